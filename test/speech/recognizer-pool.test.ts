/** Several recogniser processes: no request waits while one is free, and all wait equally while none is. */
import { expect, test } from 'vitest';
import type { CallRecognizer } from '../../src/speech/stt/pool/recognition-request.ts';
import { ask, second, startPool } from './started-pool.ts';

test('RecognizerPool asks two processes when two callers speak at once', async () => {
  const { pool, at } = await startPool(2);

  ask(pool.join());
  ask(pool.join());

  expect([at(0).requests.length, at(1).requests.length]).toEqual([1, 1]);
});

test('RecognizerPool moves an utterance to a free process rather than have it wait', async () => {
  const { pool, at } = await startPool(2);
  const [one, other, third] = [pool.join(), pool.join(), pool.join()];
  const utterance = third.open({ language: 'en', prompt: 'Acme' });
  third.append(utterance, second);
  ask(one);
  ask(other);
  at(1).answers('of the one');

  const asked = third.request(utterance, { priority: 'final' });

  const { id } = utterance;
  expect(at(0).kinds.includes('abort')).toBe(false);
  expect(at(0).received.at(-1)).toEqual({ kind: 'close', utterance: id });
  expect(at(1).received).toContainEqual({
    kind: 'open',
    utterance: id,
    language: 'en',
    prompt: 'Acme',
  });
  expect(at(1).samplesOf(id).length).toBe(8000);
  at(1).answers('Goodbye.');
  expect((await asked.answer).text).toBe('Goodbye.');
});

test('RecognizerPool gives those who wait to the process that is free first', async () => {
  const { pool, at } = await startPool(2);
  ask(pool.join());
  ask(pool.join());
  const waiting = [ask(pool.join()), ask(pool.join())];

  at(1).answers('second');
  at(1).answers('third');
  at(1).answers('fourth');

  const texts = await Promise.all(waiting.map(async ({ answer }) => (await answer).text));
  expect(texts.toSorted()).toEqual(['fourth', 'third']);
  expect(at(0).requests.length).toBe(1);
});

test('RecognizerPool knows who was served, whichever process it was', async () => {
  const { pool, at } = await startPool(2);
  const served = pool.join();
  ask(served);
  at(0).answers('of the one who was served');
  ask(pool.join());
  ask(pool.join());
  const again = ask(served);
  ask(pool.join());
  const newcomer = ask(pool.join());

  at(1).answers('of the second');
  at(1).answers('of the first newcomer');
  at(1).answers('of the newcomer');
  at(1).answers('of the one who was served, again');

  expect((await newcomer.answer).text).toBe('of the newcomer');
  expect((await again.answer).text).toBe('of the one who was served, again');
});

test('RecognizerPool cancels a request also where it has moved to', async () => {
  const { pool, at } = await startPool(2);
  ask(pool.join());
  ask(pool.join());
  const waiting = ask(pool.join());
  at(1).answers('second');

  waiting.cancel();

  await expect(waiting.answer).rejects.toThrow('it was cancelled');
  const moved = at(1).newestRequest;
  expect(at(1).received.at(-1)).toEqual({ kind: 'abort', request: moved });
});

test('RecognizerPool has the others do what a dead process was at', async () => {
  const { pool, at } = await startPool(2);
  const asked = ask(pool.join());

  at(0).exit('signal SIGKILL');
  at(1).answers('Goodbye.');

  expect((await asked.answer).text).toBe('Goodbye.');
});

test('RecognizerPool refuses at once what cannot be answered in time, and says why', async () => {
  const { pool, clock, at } = await startPool(1);
  ask(pool.join());
  clock.advance(400);
  at(0).answers('That took 400 ms.');
  for (let call = 0; call < 4; call += 1) ask(pool.join());

  const late = ask(pool.join(), { timeoutMs: 1900 });
  const intime = ask(pool.join(), { timeoutMs: 2100 });

  await expect(late.answer).rejects.toThrow(
    'Cannot recognise the utterance: 4 requests come first, which takes longer than 1900 ms',
  );
  for (let call = 0; call < 5; call += 1) at(0).answers('Goodbye.');
  expect((await intime.answer).text).toBe('Goodbye.');
});

test('RecognizerPool has ten calls on two processes wait equally long', async () => {
  const { pool, clock, processes } = await startPool(2);
  const answered = Array<number>(10).fill(0);
  const waitsMs: number[] = [];
  const callAgain = (desk: CallRecognizer, call: number): void => {
    const askedAtMs = clock.nowMs();
    void ask(desk).answer.then(() => {
      answered[call] = (answered[call] ?? 0) + 1;
      waitsMs.push(clock.nowMs() - askedAtMs);
      if (clock.nowMs() < 30_000) callAgain(desk, call);
    });
  };
  for (let call = 0; call < 10; call += 1) callAgain(pool.join(), call);

  // Each answer takes 100 ms of a process.
  for (let atMs = 0; atMs < 30_000; atMs += 100) {
    clock.advance(100);
    const asked = processes.map((process) => process.newestRequest);
    processes.forEach((process, index) => {
      if (asked[index] === process.newestRequest) process.answers('Goodbye.');
    });
    await new Promise(setImmediate);
  }

  expect(Math.min(...answered)).toBeGreaterThanOrEqual(Math.max(...answered) - 1);
  // Five calls a process: a call waits for at most the four others and itself, give or take one.
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(600);
});
