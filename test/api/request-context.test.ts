import { expect, test } from 'vitest';
import type { AnswerBody } from '../../src/api/http/api-answer.ts';
import type { ApiRequest } from '../../src/api/http/api-request.ts';
import { RequestContext } from '../../src/api/http/request-context.ts';

function contextOf(method = 'GET', headers: readonly string[] = []): RequestContext {
  const request: ApiRequest = {
    ...{ method, host: 'a', path: '/', queryText: '', remoteAddress: undefined },
    signal: new AbortController().signal,
    header: () => undefined,
    readBody: async () => undefined,
  };
  return new RequestContext(request, { requestId: 'req_0', params: {}, headers });
}

test('RequestContext.header stands in the place of a header of any case, addHeader beside it', () => {
  const common = ['Cache-Control', 'no-store', 'ETag', 'old'];
  const context = contextOf('GET', common);

  context.header('cache-control', 'no-cache');
  context.header('ETag', 'new');
  context.addHeader('Set-Cookie', 'a=1');
  context.addHeader('Set-Cookie', 'b=2');

  expect(context.body(null, 304).headers).toEqual([
    ...['X-Request-Id', 'req_0', 'Cache-Control', 'no-cache', 'ETag', 'new'],
    ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
  ]);
  expect(common).toEqual(['Cache-Control', 'no-store', 'ETag', 'old']);
});

const LENGTHS: readonly (readonly [string, string, AnswerBody, number, string | undefined])[] = [
  ['the bytes of a text', 'GET', 'für', 200, '4'],
  ['the bytes of bytes', 'GET', new Uint8Array(3), 200, '3'],
  ['nothing for no body', 'POST', null, 202, '0'],
  ['as GET would for HEAD', 'HEAD', 'für', 200, '4'],
  ['not how long HEAD of an unknown body is', 'HEAD', null, 200, undefined],
  ['no length of 204', 'DELETE', null, 204, undefined],
  ['no length of 304', 'GET', null, 304, undefined],
  ['no length of a stream', 'GET', new ReadableStream(), 200, undefined],
];

test.each(LENGTHS)('RequestContext.body announces %s', (_what, method, body, status, length) => {
  const { headers } = contextOf(method).body(body, status);

  const at = headers.indexOf('Content-Length');
  expect(at === -1 ? undefined : headers[at + 1]).toBe(length);
});
