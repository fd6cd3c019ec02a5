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

test('ResultBook writes together what came within 20 ms', () => {
  const { clock, book, groups } = openBook();

  book.add(buildResult('a'), false);
  clock.advance(19);
  book.add(buildResult('b'), false);
  clock.advance(1);
  book.add(buildResult('c'), false);
  clock.advance(20);

  expect(groups).toEqual([['a', 'b'], ['c']]);
});

test('ResultBook writes at once when no other result is to come soon, and when 256 are there', () => {
  const { book, groups } = openBook();

  book.add(buildResult('a'), true);
  for (let index = 0; index < 257; index += 1) book.add(buildResult(`b${index}`), false);

  expect(groups.map(({ length }) => length)).toEqual([1, 256]);
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

const LIMITS = { quickMax: 3, perEndpointMax: 2, slowMax: 2, totalMax: 6, slowAfterMs: 1000 };

function taken(slots: Slots, id: string, endpointId: string, nowMs = 0): void {
  slots.take({ id, endpointId }, { nowMs, takeBack: () => undefined });
}

test('Slots counts a delivery until it is answered', () => {
  const slots = new Slots(LIMITS);

  taken(slots, 'a', 'we_1');
  taken(slots, 'b', 'we_1');
  const full = { free: slots.free(10), sending: slots.sending, endpoints: slots.fullEndpoints(10) };
  slots.answered('a', 10);

  expect(full).toEqual({ free: 1, sending: 2, endpoints: ['we_1'] });
  expect(slots.hasRoom('we_1')).toBe(true);
  expect([...slots.ids]).toEqual(['b']);
});

test('Slots hands the place of a quick attempt on, and not that of one that waited for long', () => {
  const slots = new Slots(LIMITS);
  for (const id of ['a', 'b']) taken(slots, id, 'we_1');

  const places = [slots.answered('a', 1000), slots.answered('b', 1001), slots.answered('b', 1001)];

  expect(places).toEqual([true, false, false]);
});

test('Slots takes back only what has no answer', () => {
  const slots = new Slots(LIMITS);
  const back: string[] = [];
  for (const id of ['a', 'b']) {
    slots.take({ id, endpointId: 'we_1' }, { nowMs: 0, takeBack: () => back.push(id) });
  }
  slots.answered('a', 10);

  slots.takeAllBack();

  expect(back).toEqual(['b']);
});

test('Slots gives the place of an attempt that waits for long to others, up to the total', () => {
  const slots = new Slots(LIMITS);
  for (const id of ['a', 'b', 'c']) taken(slots, id, `we_${id}`);

  const before = slots.free(1000);
  const after = slots.free(1001);
  for (const id of ['d', 'e', 'f']) taken(slots, id, `we_${id}`, 1001);
  const atTotal = slots.free(3000);

  expect([before, after, atTotal]).toEqual([0, 3, 0]);
});

test('Slots lets slow endpoints have one attempt each, and a few together', () => {
  const slots = new Slots(LIMITS);
  for (const id of ['a', 'b', 'c']) taken(slots, id, `we_${id}`);
  for (const id of ['a', 'b', 'c']) slots.answered(id, 5000);

  taken(slots, 'd', 'we_a', 5000);
  const afterOne = slots.fullEndpoints(5000);
  taken(slots, 'e', 'we_b', 5000);
  const afterTwo = slots.fullEndpoints(5000);

  expect(afterOne).toEqual(['we_a']);
  expect(afterTwo).toEqual(['we_a', 'we_b', 'we_c']);
});

test('Slots forgets that an endpoint was slow when it answers quickly', () => {
  const slots = new Slots(LIMITS);
  taken(slots, 'a', 'we_1');
  slots.answered('a', 5000);

  taken(slots, 'b', 'we_1', 5000);
  const whileSlow = slots.hasRoom('we_1');
  slots.answered('b', 5100);

  expect(whileSlow).toBe(false);
  expect(slots.hasRoom('we_1')).toBe(true);
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
