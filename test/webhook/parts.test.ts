import { expect, test } from 'vitest';
import type { AttemptResult } from '../../src/domain/outbox.ts';
import { nextAttemptAt } from '../../src/webhook/attempt-schedule.ts';
import { answerOfError } from '../../src/webhook/network-error.ts';
import { ResultBook } from '../../src/webhook/result-book.ts';
import { Slots } from '../../src/webhook/slots.ts';
import { FakeClock } from '../support/fake-clock.ts';

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

function buildResult(deliveryId: string): AttemptResult {
  const answer = { statusCode: 200, error: null, responseText: null };
  const attempt = { attempt: 1, at: endedAt, durationMs: 1, ...answer };
  return { deliveryId, attempt, isSuccess: true, nextAttemptAt: null };
}

function openBook(options: { readonly failures?: number } = {}) {
  const clock = new FakeClock();
  const groups: string[][] = [];
  const troubles: unknown[] = [];
  let failures = options.failures ?? 0;
  const book = new ResultBook({
    clock,
    write: (results) => {
      failures -= 1;
      if (failures >= 0) throw new Error('full');
      groups.push(results.map(({ deliveryId }) => deliveryId));
    },
    onTrouble: (error) => troubles.push(error),
  });
  return { clock, book, groups, troubles };
}

test('ResultBook writes together what came within 5 ms', () => {
  const { clock, book, groups } = openBook();

  book.add(buildResult('a'), false);
  clock.advance(4);
  book.add(buildResult('b'), false);
  clock.advance(1);
  book.add(buildResult('c'), false);
  clock.advance(5);

  expect(groups).toEqual([['a', 'b'], ['c']]);
});

test('ResultBook writes at once when no other result is to come soon, and when 64 are there', () => {
  const { book, groups } = openBook();

  book.add(buildResult('a'), true);
  for (let index = 0; index < 65; index += 1) book.add(buildResult(`b${index}`), false);

  expect(groups.map(({ length }) => length)).toEqual([1, 64]);
});

test('ResultBook keeps what cannot be written and tries again once a second', () => {
  const { clock, book, groups, troubles } = openBook({ failures: 3 });

  book.add(buildResult('a'), true);
  book.add(buildResult('b'), true);
  const isTroubled = book.isTroubled;
  clock.advance(2000);
  const early = groups.length;
  clock.advance(1000);

  expect(isTroubled).toBe(true);
  expect(early).toBe(0);
  expect(groups).toEqual([['a', 'b']]);
  expect(book.isTroubled).toBe(false);
  expect(troubles).toHaveLength(1);
});

test('Slots counts a delivery until its result is written', () => {
  const slots = new Slots({ totalMax: 3, perEndpointMax: 2 });
  const noBack = () => undefined;

  slots.take({ id: 'a', endpointId: 'we_1' }, noBack);
  slots.take({ id: 'b', endpointId: 'we_1' }, noBack);
  slots.answered('a');
  const full = { free: slots.free, sending: slots.sending, endpoints: slots.fullEndpoints };
  slots.release('a');

  expect(full).toEqual({ free: 1, sending: 1, endpoints: ['we_1'] });
  expect(slots.hasRoom('we_1')).toBe(true);
  expect([...slots.ids]).toEqual(['b']);
});

test('Slots takes back only what has no answer', () => {
  const slots = new Slots({ totalMax: 3, perEndpointMax: 2 });
  const back: string[] = [];
  slots.take({ id: 'a', endpointId: 'we_1' }, () => back.push('a'));
  slots.take({ id: 'b', endpointId: 'we_1' }, () => back.push('b'));
  slots.answered('a');

  slots.takeAllBack();

  expect(back).toEqual(['b']);
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
