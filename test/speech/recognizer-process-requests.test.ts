/** One recogniser process: the order of its answers, and its requests after its death. */
import { expect, test } from 'vitest';
import { RecognitionError } from '../../src/speech/hearing/hearing.ts';
import { RecognizerPool } from '../../src/speech/stt/pool/recognizer-pool.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeRecognizerProcess } from './fake-recognizer-process.ts';
import { second, startPool } from './started-pool.ts';

/** A pool of one process with its model, as one call uses it. */
async function startOne() {
  const { pool, clock, at, notes, processes } = await startPool(1);
  const newest = () => processes.at(-1) as FakeRecognizerProcess;
  return { pool, clock, notes, call: pool.join(), child: at(0), newest };
}

test('RecognizerPool sends audio ahead in pieces of 128 ms', async () => {
  const { call, child } = await startOne();
  const utterance = call.open({ language: 'en' });

  call.append(utterance, new Int16Array(1000));
  const before = child.samplesOf(utterance.id).length;
  call.append(utterance, new Int16Array(100));

  expect(before).toBe(0);
  expect(child.samplesOf(utterance.id).length).toBe(1100);
});

test('RecognizerPool asks one request at a time, the most important next', async () => {
  const { call, child } = await startOne();
  const asked = (['speculative', 'partial', 'speculative', 'final'] as const).map((priority) =>
    call.request(call.open({ language: 'en' }), { priority }),
  );

  child.answers('first come');
  child.answers('final');
  child.answers('speculative');
  child.answers('partial');

  const texts = await Promise.all(asked.map(async ({ answer }) => (await answer).text));
  expect(texts).toEqual(['first come', 'partial', 'speculative', 'final']);
});

test('RecognizerPool sends all audio up to the request, and later audio after it', async () => {
  const { call, child } = await startOne();
  const [busy, utterance] = [call.open({ language: 'en' }), call.open({ language: 'en' })];
  call.request(busy, { priority: 'final' });
  call.append(utterance, new Int16Array(500).fill(1));
  call.request(utterance, { priority: 'final' });
  call.append(utterance, new Int16Array(2000).fill(2));

  child.answers('of the other');
  const atRequest = child.samplesOf(utterance.id);
  call.append(utterance, new Int16Array(100).fill(3));

  expect(atRequest).toEqual(Array(500).fill(1));
  expect(child.samplesOf(utterance.id).length).toBe(2600);
});

test('RecognizerPool refuses a partial request that a newer request makes stale', async () => {
  const { call } = await startOne();
  call.request(call.open({ language: 'en' }), { priority: 'final' });
  const utterance = call.open({ language: 'en' });
  const partial = call.request(utterance, { priority: 'partial' });

  call.request(utterance, { priority: 'final' });

  await expect(partial.answer).rejects.toThrow('a newer request came');
});

test('RecognizerPool aborts a partial request under way for a final one', async () => {
  const { call, child } = await startOne();
  const partial = call.request(call.open({ language: 'en' }), { priority: 'partial' });
  const final = call.request(call.open({ language: 'en' }), { priority: 'final' });

  await expect(partial.answer).rejects.toThrow(RecognitionError);
  expect(child.received.at(-1)).toEqual({ kind: 'abort', request: child.newestRequest });
  child.says({ kind: 'failed', request: child.newestRequest, reason: 'aborted' });
  child.answers('Goodbye.');

  expect((await final.answer).text).toBe('Goodbye.');
});

test('RecognizerPool takes a cancelled request out of the queue', async () => {
  const { call, child } = await startOne();
  call.request(call.open({ language: 'en' }), { priority: 'final' });
  const waiting = call.request(call.open({ language: 'en' }), { priority: 'final' });

  waiting.cancel();
  child.answers('of the other');

  await expect(waiting.answer).rejects.toThrow('it was cancelled');
  expect(child.requests.length).toBe(1);
});

test('RecognizerPool kills a child that does not come to the end of an aborted request', async () => {
  const { call, child, clock } = await startOne();
  const hanging = call.request(call.open({ language: 'en' }), { priority: 'final' });

  hanging.cancel();
  clock.advance(9_999);
  const before = child.isKilled;
  clock.advance(1);

  await expect(hanging.answer).rejects.toThrow(RecognitionError);
  expect(before).toBe(false);
  expect(child.isKilled).toBe(true);
});

test('RecognizerPool sends the audio again and asks again when the process dies', async () => {
  const { call, child, clock, newest, notes } = await startOne();
  const utterance = call.open({ language: 'en' });
  call.append(utterance, second);
  const asked = call.request(utterance, { priority: 'final' });

  child.exit('signal SIGKILL');
  clock.advance(0);
  newest().loads();
  newest().answers('Goodbye.');

  expect((await asked.answer).text).toBe('Goodbye.');
  expect(newest()).not.toBe(child);
  expect(newest().kinds).toEqual(['load', 'open', 'audio', 'transcribe']);
  expect(newest().samplesOf(utterance.id)).toEqual(Array.from(second));
  expect(notes).toEqual(['Recogniser ended: starting another']);
});

test('RecognizerPool gives a request up that twice saw its process die', async () => {
  const { call, child, clock, newest } = await startOne();
  const asked = call.request(call.open({ language: 'en' }), { priority: 'final' });

  child.exit('signal SIGSEGV');
  clock.advance(0);
  newest().loads();
  newest().exit('signal SIGSEGV');

  await expect(asked.answer).rejects.toThrow('its process ended with signal SIGSEGV');
});

test('RecognizerPool waits ever longer before it starts a process that keeps dying', async () => {
  const { child, clock, newest } = await startOne();
  child.exit('exit code 1');
  clock.advance(0);
  const secondChild = newest();

  secondChild.exit('exit code 1');
  clock.advance(499);
  const beforeWait = newest();
  clock.advance(1);
  const thirdChild = newest();
  thirdChild.exit('exit code 1');
  clock.advance(999);
  const beforeSecondWait = newest();
  clock.advance(1);

  expect(beforeWait).toBe(secondChild);
  expect(thirdChild).not.toBe(secondChild);
  expect(beforeSecondWait).toBe(thirdChild);
  expect(newest()).not.toBe(thirdChild);
});

test('RecognizerPool forgets a closed utterance once its last request is answered', async () => {
  const { call, child } = await startOne();
  const utterance = call.open({ language: 'en' });
  call.append(utterance, second);
  const asked = call.request(utterance, { priority: 'final' });

  call.close(utterance);
  const before = child.kinds.includes('close');
  child.answers('Goodbye.');

  expect(before).toBe(false);
  expect(child.received.at(-1)).toEqual({ kind: 'close', utterance: utterance.id });
  expect((await asked.answer).text).toBe('Goodbye.');
});

test('RecognizerPool refuses all that wait when it stops, and kills a child that does not end', async () => {
  const { pool, call, child, clock } = await startOne();
  const running = call.request(call.open({ language: 'en' }), { priority: 'final' });
  const waiting = call.request(call.open({ language: 'en' }), { priority: 'final' });

  const stopped = pool.stop();
  clock.advance(1500);

  await expect(running.answer).rejects.toThrow('the recogniser is stopping');
  await expect(waiting.answer).rejects.toThrow('the recogniser is stopping');
  await stopped;
  expect(child.isKilled).toBe(true);
});

test('RecognizerPool says that a process ended over its model', async () => {
  const process = new FakeRecognizerProcess();
  const pool = new RecognizerPool({
    size: 1,
    clock: new FakeClock(),
    moduleUrl: 'file:///engine.ts',
    note: () => undefined,
    fork: () => process,
  });

  const started = pool.start(['models/whisper-base']);
  process.exit('signal SIGILL');

  const failure = 'Cannot load "models/whisper-base": its process ended with signal SIGILL';
  expect(await started).toEqual({ model: null, failures: [failure] });
});
