import { expect, test } from 'vitest';
import { nextAttemptAt } from '../../src/webhook/attempt-schedule.ts';
import { answerOfError } from '../../src/webhook/network-error.ts';

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
    'nobody listens at its port (ECONNREFUSED)',
    'the connection failed (Error)',
  ]);
});
