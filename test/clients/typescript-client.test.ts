/** What the TypeScript client does before, after and instead of requests; its answers are tested by `clients/conformance`. */
import { expect, test } from 'vitest';
import { PageRequest } from '../../clients/typescript/src/pages.ts';
import { backOffMs, retryAfterSeconds } from '../../clients/typescript/src/retry.ts';
import { type RequestFacts, segment, Transport } from '../../clients/typescript/src/transport.ts';
import { verify } from '../../clients/typescript/src/webhooks.ts';

const GET: RequestFacts = {
  ...{ operation: 'agents.get', method: 'GET', path: '/api/agents/a' },
  retry: 'always',
};

function transport(fetch: typeof globalThis.fetch, maxRetries = 2): Transport {
  const apiKey = 'svc_test_x';
  return new Transport({ apiKey, baseUrl: 'http://voice.example/', fetch, maxRetries });
}

test.each(['', '.', '..'])('segment refuses "%s", which would lead to another path', (id) => {
  expect(() => segment('agentId', id)).toThrow(RangeError);
});

test.each([
  ['an empty key', { apiKey: '', baseUrl: 'https://voice.example' }],
  ['a key with a line end', { apiKey: 'svc_test_x\n', baseUrl: 'https://voice.example' }],
  ['an address without a scheme', { apiKey: 'svc_test_x', baseUrl: 'voice.example' }],
])('Transport refuses %s', (_what, options) => {
  expect(() => new Transport(options)).toThrow(TypeError);
});

test.each([
  ['a header that cannot be sent', GET, { ifMatch: 'a\nb' }],
  ['a body that is no JSON', { ...GET, body: { count: 1n } }, {}],
])('Transport takes %s for an error of the caller, and sends nothing', async (_what, facts, options) => {
  let requests = 0;
  const counts = transport(async () => {
    requests += 1;
    return new Response('');
  });

  await expect(counts.json(facts, options)).rejects.toThrow(TypeError);
  expect(requests).toBe(0);
});

test('Transport rejects with the reason of the signal that ends a request', async () => {
  const reason = new Error('the user left');
  const abort = new AbortController();
  const hangs = transport((_url, init) => {
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  });

  const answer = hangs.json(GET, { signal: abort.signal });
  abort.abort(reason);

  await expect(answer).rejects.toBe(reason);
});

test('Transport rejects with the reason of the signal that ends the wait for the next attempt', async () => {
  const reason = new Error('the user left');
  const abort = new AbortController();
  const fails = transport(async () => {
    // The wait has begun when the microtasks of the failed attempt are over.
    setTimeout(() => abort.abort(reason), 5);
    return new Response('', { status: 503, headers: { 'Retry-After': '50' } });
  });

  await expect(fails.json(GET, { signal: abort.signal })).rejects.toBe(reason);
});

test('Transport ends a stream of events by the signal', async () => {
  const reason = new Error('enough');
  const abort = new AbortController();
  const event = new TextEncoder().encode('event: hearing\ndata: {}\n\n');
  const streams = transport(async (_url, init) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(event);
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  });

  const read = async () => {
    for await (const _event of streams.liveEvents(GET, { signal: abort.signal })) {
      abort.abort(reason);
    }
  };

  await expect(read()).rejects.toBe(reason);
});

test('Transport gives a download as a web stream', async () => {
  const answers = transport(async () => {
    return new Response('RIFF', { headers: { 'Content-Type': 'audio/wav' } });
  });

  const download = await answers.download({ ...GET, accept: 'audio/wav' }, {});

  expect(await new Response(download.stream()).text()).toBe('RIFF');
});

test('PageRequest asks for nothing until it is read, and for its first page once', async () => {
  let loads = 0;
  const request = new PageRequest({
    ...{ style: 'offset', query: {} },
    load: async () => {
      loads += 1;
      return { data: [], total: 0 };
    },
  });
  const loadsBefore = loads;

  await request;
  await request;

  expect([loadsBefore, loads]).toEqual([0, 1]);
});

test('backOffMs doubles up to a limit, half of it by chance', () => {
  expect([0, 1, 2].map((attempt) => backOffMs(attempt, 1))).toEqual([500, 1000, 2000]);
  expect(backOffMs(0, 0)).toBe(250);
  expect(backOffMs(50, 1)).toBe(8000);
});

test.each([
  [null, null],
  ['7', 7],
  ['-7', null],
  ['1e9', null],
  ['Thu, 01 Jan 1970 00:00:09 GMT', 9],
  ['Wed, 31 Dec 1969 23:59:50 GMT', 0],
])('retryAfterSeconds reads %s as %s', (header, seconds) => {
  expect(retryAfterSeconds(header, 0)).toBe(seconds);
});

test('verify refuses to work without a secret', async () => {
  const headers = { 'x-service-timestamp': '0', 'x-service-signature': '00' };

  await expect(verify('{}', headers, '', 0)).rejects.toThrow(TypeError);
});
