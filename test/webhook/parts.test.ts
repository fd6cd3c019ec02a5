import { expect, test } from 'vitest';
import { nextAttemptAt } from '../../src/domain/webhook/webhook-delivery.ts';
import {
  AddressRefusedError,
  answerOfError,
  answerOfStatus,
  timeoutAnswer,
} from '../../src/webhook/answer.ts';

const endedAt = new Date(1_000_000);
const waitsSeconds = [0, 30, 120];

test.each([
  [1, 0, 1_030_000],
  [2, 0, 1_120_000],
  [2, 0.5, 1_123_000],
  [2, 1, 1_126_000],
])('nextAttemptAt after attempt %d with jitter %d counts from the end of the attempt', (attempt, jitter, atMs) => {
  const next = nextAttemptAt({ attempt, endedAt, waitsSeconds, jitter });

  expect(next).toEqual(new Date(atMs));
});

test('nextAttemptAt is null after the last attempt', () => {
  const next = nextAttemptAt({ attempt: 3, endedAt, waitsSeconds, jitter: 0 });

  expect(next).toBeNull();
});

test('answerOfError finds the reason behind wrappers and aggregates, and shows no secret of the message', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const wrapped = new Error('failed for token=abc', { cause: new AggregateError([refused]) });

  const errors = [wrapped, new Error('token=abc')].map((error) => answerOfError(error).error);

  expect(errors).toEqual([
    'no server listens at its port (ECONNREFUSED)',
    'the connection failed (Error)',
  ]);
});

/** An error with a code, as Node and undici make them. */
function coded(code: string, options: { readonly cause?: unknown } = {}): Error {
  return Object.assign(new Error('failed', options), { code });
}

test.each([
  [coded('HPE_INVALID_CONSTANT'), 'network', 'the answer is not HTTP (HPE_INVALID_CONSTANT)'],
  [coded('ESOMETHING'), 'network', 'the connection failed (ESOMETHING)'],
  [
    coded('UND_ERR_SOCKET', { cause: coded('CERT_HAS_EXPIRED') }),
    'network',
    'its certificate has expired (CERT_HAS_EXPIRED)',
  ],
  [new Error('', { cause: new AddressRefusedError('not there') }), 'refused', 'not there'],
  [
    new TypeError('', { cause: { code: 'ECONNRESET' } }),
    'network',
    'the connection failed (TypeError)',
  ],
  [Object.assign(new Error(''), { code: 7 }), 'network', 'the connection failed (Error)'],
])('answerOfError makes of %o a failure of the kind %s', (error, kind, text) => {
  const answer = answerOfError(error);

  expect(answer).toEqual({
    ...{ kind, statusCode: null, error: text },
    ...{ responseText: null, responseHeaders: null, requestHeaders: null },
  });
});

test('answerOfError looks at eight causes, and comes back from causes in a circle', () => {
  const chain = (length: number): Error =>
    length === 1 ? coded('ENOTFOUND') : new Error('wrapper', { cause: chain(length - 1) });
  const circle = new Error('circle');
  circle.cause = circle;

  const errors = [chain(8), chain(9), circle].map((error) => answerOfError(error).error);

  expect(errors).toEqual([
    'host name not found (ENOTFOUND)',
    'the connection failed (Error)',
    'the connection failed (Error)',
  ]);
});

test.each([
  [200, 'ok', null],
  [299, 'ok', null],
  [199, 'http', 'the receiver answered 199'],
  [300, 'http', 'the receiver answered 300'],
  [302, 'http', 'the receiver answered 302; redirects are not followed'],
  [
    410,
    'http',
    'the receiver answered 410: it wants no more events; delete or disable the endpoint if that is so',
  ],
])('answerOfStatus takes %d for %s', (status, kind, error) => {
  const response = { responseText: 'text', responseHeaders: [{ name: 'server', value: 'a' }] };

  const answer = answerOfStatus(status, response);

  expect(answer).toEqual({ kind, statusCode: status, error, ...response, requestHeaders: null });
});

test('timeoutAnswer names the limit in seconds', () => {
  const { error } = timeoutAnswer(10_000);

  expect(error).toBe('no answer within 10 seconds');
});
