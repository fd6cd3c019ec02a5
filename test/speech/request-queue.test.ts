/** The order in which requests are answered. */
import { expect, test } from 'vitest';
import type { TranscriptionPriority } from '../../src/speech/hearing/hearing.ts';
import { RequestQueue } from '../../src/speech/stt/pool/recognition-request.ts';

interface Wish {
  readonly name: string;
  readonly priority: TranscriptionPriority;
  readonly utterance: { readonly id: number; readonly caller: object };
}

/** By default each utterance is of another caller. */
function wish(
  name: string,
  priority: TranscriptionPriority,
  utteranceId: number,
  caller: object = {},
): Wish {
  return { name, priority, utterance: { id: utteranceId, caller } };
}

function namesInOrder(queue: RequestQueue<Wish>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name);
  return names;
}

test('RequestQueue gives final before speculative before partial, and keeps the order within', () => {
  const queue = new RequestQueue<Wish>();
  queue.add(wish('partial', 'partial', 1));
  queue.add(wish('speculative', 'speculative', 2));
  queue.add(wish('final 1', 'final', 3));
  queue.add(wish('final 2', 'final', 4));

  expect(namesInOrder(queue)).toEqual(['final 1', 'final 2', 'speculative', 'partial']);
});

test('RequestQueue drops partial requests of the same utterance when a newer one comes', () => {
  const queue = new RequestQueue<Wish>();
  queue.add(wish('old', 'partial', 1));
  queue.add(wish('of another', 'partial', 2));

  const stale = queue.add(wish('new', 'partial', 1));

  expect(stale.map(({ name }) => name)).toEqual(['old']);
  expect(namesInOrder(queue)).toEqual(['of another', 'new']);
});

test('RequestQueue.putBack puts a request before others of its priority', () => {
  const queue = new RequestQueue<Wish>();
  const taken = wish('taken', 'final', 1);
  queue.add(wish('waiting', 'final', 2));

  queue.putBack(taken);

  expect(namesInOrder(queue)).toEqual(['taken', 'waiting']);
});

test('RequestQueue has callers take turns within a priority', () => {
  const queue = new RequestQueue<Wish>();
  const [one, other] = [{}, {}];
  for (const id of [1, 2, 3]) queue.add(wish(`one ${id}`, 'final', id, one));
  queue.add(wish('other 4', 'final', 4, other));
  queue.add(wish('other 5', 'final', 5, other));

  expect(namesInOrder(queue)).toEqual(['one 1', 'other 4', 'one 2', 'other 5', 'one 3']);
});

test('RequestQueue.take passes over requests that are not ready', () => {
  const queue = new RequestQueue<Wish>();
  queue.add(wish('speculative', 'speculative', 1));
  queue.add(wish('final', 'final', 2));

  expect(queue.take(({ priority }) => priority !== 'final')?.name).toBe('speculative');
  expect(namesInOrder(queue)).toEqual(['final']);
});

test.each([
  { priority: 'final', ahead: 1 },
  { priority: 'speculative', ahead: 2 },
  { priority: 'partial', ahead: 3 },
] as const)('RequestQueue.ahead counts $ahead before a $priority one', ({ priority, ahead }) => {
  const queue = new RequestQueue<Wish>();
  queue.add(wish('a', 'final', 1));
  queue.add(wish('b', 'speculative', 2));
  queue.add(wish('c', 'partial', 3));

  expect(queue.countBefore(priority)).toBe(ahead);
});

test('RequestQueue.remove tells whether the request was there', () => {
  const queue = new RequestQueue<Wish>();
  const request = wish('here', 'final', 1);
  queue.add(request);

  expect(queue.remove(request)).toBe(true);
  expect(queue.remove(request)).toBe(false);
});
