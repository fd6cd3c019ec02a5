/** Work that takes too long, is given up, or ignores its signal. */
import { expect, test } from 'vitest';
import { TimeLimit, unlessAborted, waitAtMost } from '../../src/lib/clock.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

test('TimeLimit aborts its signal with the reason when the time is over', () => {
  const clock = new FakeClock();
  using limit = new TimeLimit(clock, 100, { reason: 'it takes too long' });

  clock.advance(99);
  const before = limit.isOver;
  clock.advance(1);

  expect(before).toBe(false);
  expect(limit.isOver).toBe(true);
  expect(() => limit.signal.throwIfAborted()).toThrow('it takes too long');
});

test('TimeLimit passes on an abort of the caller, which is not its own end', () => {
  const caller = new AbortController();
  using limit = new TimeLimit(new FakeClock(), 100, { signal: caller.signal, reason: 'late' });

  caller.abort(new Error('the caller is gone'));

  expect(limit.isOver).toBe(false);
  expect(() => limit.signal.throwIfAborted()).toThrow('the caller is gone');
});

test('TimeLimit is not over after the end of its scope, and aborts nothing then', () => {
  const clock = new FakeClock();
  const limit = new TimeLimit(clock, 100, { reason: 'late' });

  limit[Symbol.dispose]();
  clock.advance(100);

  expect(limit.signal.aborted).toBe(false);
  expect(limit.isOver).toBe(false);
});

test('unlessAborted does not wait for work that ignores its signal', async () => {
  const stop = new AbortController();
  const waiting = unlessAborted(Promise.withResolvers<void>().promise, stop.signal);

  stop.abort(new Error('enough'));

  await expect(waiting).rejects.toThrow('enough');
  await expect(unlessAborted(Promise.resolve('done'), AbortSignal.abort('no'))).rejects.toBe('no');
  expect(await unlessAborted(Promise.resolve('done'), new AbortController().signal)).toBe('done');
});

test('waitAtMost ends with the work or the time, and passes on an error', async () => {
  const clock = new FakeClock();
  const late = waitAtMost(clock, 100, Promise.withResolvers<void>().promise);

  clock.advance(100);

  await late;
  await waitAtMost(clock, 100, Promise.resolve());
  await expect(waitAtMost(clock, 100, Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  );
});
