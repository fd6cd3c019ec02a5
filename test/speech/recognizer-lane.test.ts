/** Who is answered when, and what becomes of requests when the process dies. */
import { expect, test } from 'vitest';
import { RecognitionError } from '../../src/speech/hearing/hearing.ts';
import { RecognizerLane } from '../../src/speech/stt/pool/recognizer-lane.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeRecognizerProcess } from './fake-recognizer-process.ts';

/** A lane whose first process has its model. */
async function startLane() {
  const clock = new FakeClock(1000);
  const processes: FakeRecognizerProcess[] = [];
  const notes: string[] = [];
  const lane = new RecognizerLane({
    clock,
    moduleUrl: 'file:///engine.ts',
    note: (_, message) => notes.push(message),
    fork: () => {
      const process = new FakeRecognizerProcess();
      processes.push(process);
      return process;
    },
  });
  const started = lane.start(['model']);
  const child = processes[0] as FakeRecognizerProcess;
  child.loads();
  await started;
  return { clock, lane, child, notes, newest: () => processes.at(-1) as FakeRecognizerProcess };
}

const second = new Int16Array(8000).fill(7);

test('RecognizerLane sends audio ahead in pieces of 128 ms', async () => {
  const { lane, child } = await startLane();
  const utterance = lane.open({ language: 'en' });

  lane.append(utterance, new Int16Array(1000));
  const before = child.samplesOf(utterance.id).length;
  lane.append(utterance, new Int16Array(100));

  expect(before).toBe(0);
  expect(child.samplesOf(utterance.id).length).toBe(1100);
});

test('RecognizerLane asks one request at a time, the most important next', async () => {
  const { lane, child } = await startLane();
  const asked = (['speculative', 'partial', 'speculative', 'final'] as const).map((priority) =>
    lane.request(lane.open({ language: 'en' }), { priority }),
  );

  child.answers('first come');
  child.answers('final');
  child.answers('speculative');
  child.answers('partial');

  const texts = await Promise.all(asked.map(async ({ answer }) => (await answer).text));
  expect(texts).toEqual(['first come', 'partial', 'speculative', 'final']);
});

test('RecognizerLane sends all audio up to the request, and later audio after it', async () => {
  const { lane, child } = await startLane();
  const [busy, utterance] = [lane.open({ language: 'en' }), lane.open({ language: 'en' })];
  lane.request(busy, { priority: 'final' });
  lane.append(utterance, new Int16Array(500).fill(1));
  lane.request(utterance, { priority: 'final' });
  lane.append(utterance, new Int16Array(2000).fill(2));

  child.answers('of the other');
  const atRequest = child.samplesOf(utterance.id);
  lane.append(utterance, new Int16Array(100).fill(3));

  expect(atRequest).toEqual(Array(500).fill(1));
  expect(child.samplesOf(utterance.id).length).toBe(2600);
});

test('RecognizerLane refuses a partial request that a newer request makes stale', async () => {
  const { lane } = await startLane();
  lane.request(lane.open({ language: 'en' }), { priority: 'final' });
  const utterance = lane.open({ language: 'en' });
  const partial = lane.request(utterance, { priority: 'partial' });

  lane.request(utterance, { priority: 'final' });

  await expect(partial.answer).rejects.toThrow('a newer request came');
});

test('RecognizerLane aborts a partial request under way for a final one', async () => {
  const { lane, child } = await startLane();
  const partial = lane.request(lane.open({ language: 'en' }), { priority: 'partial' });
  const final = lane.request(lane.open({ language: 'en' }), { priority: 'final' });

  await expect(partial.answer).rejects.toThrow(RecognitionError);
  expect(child.received.at(-1)).toEqual({ kind: 'abort', request: child.newestRequest });
  child.says({ kind: 'failed', request: child.newestRequest, reason: 'aborted' });
  child.answers('Goodbye.');

  expect((await final.answer).text).toBe('Goodbye.');
});

test('RecognizerLane takes a cancelled request out of the queue', async () => {
  const { lane, child } = await startLane();
  lane.request(lane.open({ language: 'en' }), { priority: 'final' });
  const waiting = lane.request(lane.open({ language: 'en' }), { priority: 'final' });

  waiting.cancel();
  child.answers('of the other');

  await expect(waiting.answer).rejects.toThrow('it was cancelled');
  expect(child.requests.length).toBe(1);
});

test('RecognizerLane kills a child that does not come to the end of an aborted request', async () => {
  const { lane, child, clock } = await startLane();
  const hanging = lane.request(lane.open({ language: 'en' }), { priority: 'final' });

  hanging.cancel();
  clock.advance(9_999);
  const before = child.isKilled;
  clock.advance(1);

  await expect(hanging.answer).rejects.toThrow(RecognitionError);
  expect(before).toBe(false);
  expect(child.isKilled).toBe(true);
});

test('RecognizerLane sends the audio again and asks again when the process dies', async () => {
  const { lane, child, clock, newest, notes } = await startLane();
  const utterance = lane.open({ language: 'en' });
  lane.append(utterance, second);
  const asked = lane.request(utterance, { priority: 'final' });

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

test('RecognizerLane gives a request up that twice saw its process die', async () => {
  const { lane, child, clock, newest } = await startLane();
  const asked = lane.request(lane.open({ language: 'en' }), { priority: 'final' });

  child.exit('signal SIGSEGV');
  clock.advance(0);
  newest().loads();
  newest().exit('signal SIGSEGV');

  await expect(asked.answer).rejects.toThrow('its process ended with signal SIGSEGV');
});

test('RecognizerLane waits ever longer before it starts a process that keeps dying', async () => {
  const { child, clock, newest } = await startLane();
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

test('RecognizerLane forgets a closed utterance once its last request is answered', async () => {
  const { lane, child } = await startLane();
  const utterance = lane.open({ language: 'en' });
  lane.append(utterance, second);
  const asked = lane.request(utterance, { priority: 'final' });

  lane.close(utterance);
  const before = child.kinds.includes('close');
  child.answers('Goodbye.');

  expect(before).toBe(false);
  expect(child.received.at(-1)).toEqual({ kind: 'close', utterance: utterance.id });
  expect((await asked.answer).text).toBe('Goodbye.');
});

test('RecognizerLane refuses all that wait when it stops, and kills a child that does not end', async () => {
  const { lane, child, clock } = await startLane();
  const running = lane.request(lane.open({ language: 'en' }), { priority: 'final' });
  const waiting = lane.request(lane.open({ language: 'en' }), { priority: 'final' });

  const stopped = lane.stop();
  clock.advance(1500);

  await expect(running.answer).rejects.toThrow('the recogniser is stopping');
  await expect(waiting.answer).rejects.toThrow('the recogniser is stopping');
  await stopped;
  expect(child.isKilled).toBe(true);
});

test('RecognizerLane says that a process ended over its model', async () => {
  const process = new FakeRecognizerProcess();
  const lane = new RecognizerLane({
    clock: new FakeClock(),
    moduleUrl: 'file:///engine.ts',
    note: () => undefined,
    fork: () => process,
  });

  const started = lane.start(['models/whisper-base']);
  process.exit('signal SIGILL');

  const failure = 'Cannot load "models/whisper-base": its process ended with signal SIGILL';
  expect(await started).toEqual({ model: null, failures: [failure] });
});
