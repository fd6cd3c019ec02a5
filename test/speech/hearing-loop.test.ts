/** The hearing thread's work, 20 ms at a time, without the thread. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { HearingLoop } from '../../src/speech/hearing/hearing-loop.ts';
import type { FromThread } from '../../src/speech/hearing/hearing-messages.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeRecognizerProcess } from './fake-recognizer-process.ts';
import { batchSizes, loudEngine } from './loud-detector.ts';

const FRAME_SAMPLES = 160;
const QUIET = 0;
const LOUD = 10_000;

/** Level of such windows; the last one before the quiet may be half full. */
const LOUD_DBFS = expect.closeTo(-10.3, 0);

beforeEach(() => {
  batchSizes.length = 0;
});

async function startLoop() {
  const clock = new FakeClock(100_000);
  const child = new FakeRecognizerProcess();
  const sent: FromThread[] = [];
  const loop = new HearingLoop({ clock, fork: () => child, send: (message) => sent.push(message) });
  const started = loop.start({
    detector: { moduleUrl: loudEngine.moduleUrl, models: ['loud'] },
    recognizer: { moduleUrl: 'file:///engine.ts', models: ['model'] },
    recognizers: 1,
  });
  child.loads();
  await started;
  sent.length = 0;
  return { clock, child, loop, sent };
}

type Loop = Awaited<ReturnType<typeof startLoop>>;

/** Opens a listener on a new ring. */
function openEar({ loop }: Loop, listener: number): ReceiveRing {
  const heard = new ReceiveRing();
  loop.obey({ kind: 'open', listener, ring: heard.buffer, position: 0, language: 'en' });
  return heard;
}

/** Lets all callers send packets of one level for a while, and the loop listen. */
async function send({ clock }: Loop, rings: readonly ReceiveRing[], level: number, ms: number) {
  for (let sentMs = 0; sentMs < ms; sentMs += 20) {
    clock.advance(20);
    for (const heard of rings) {
      heard.write(new Int16Array(FRAME_SAMPLES).fill(level), clock.nowMs());
    }
    await setImmediate();
  }
}

test('HearingLoop tells when a voice starts and stops, within 64 ms and a tick', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);

  await send(loop, [heard], QUIET, 320);
  const beganAtMs = loop.clock.nowMs();
  await send(loop, [heard], LOUD, 140);
  const started = loop.sent.at(-1);
  await send(loop, [heard], LOUD, 180);
  const endedAtMs = loop.clock.nowMs();
  await send(loop, [heard], QUIET, 140);
  const stopped = loop.sent.at(-1);

  expect(started).toEqual({
    kind: 'voice',
    listener: 1,
    event: { kind: 'voice-started', atMs: beganAtMs },
  });
  expect(stopped).toEqual({
    kind: 'voice',
    listener: 1,
    event: { kind: 'voice-stopped', lastVoicedAtMs: endedAtMs, levelDbfs: LOUD_DBFS },
  });
});

test('HearingLoop scores all calls in one run', async () => {
  const loop = await startLoop();
  const rings = [openEar(loop, 1), openEar(loop, 2), openEar(loop, 3)];

  await send(loop, rings, QUIET, 640);

  expect(batchSizes.length).toBeGreaterThan(15);
  expect(new Set(batchSizes)).toEqual(new Set([3]));
});

test('HearingLoop takes a caller for silent whose packets stop', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  await send(loop, [heard], LOUD, 320);
  const endedAtMs = loop.clock.nowMs();

  await send(loop, [], QUIET, 260);

  expect(loop.sent.at(-1)).toEqual({
    kind: 'voice',
    listener: 1,
    event: { kind: 'voice-stopped', lastVoicedAtMs: endedAtMs, levelDbfs: LOUD_DBFS },
  });
});

test('HearingLoop tries a recogniser again that could not be started, and has it hear the calls that come then', async () => {
  const clock = new FakeClock(100_000);
  const children = [new FakeRecognizerProcess(), new FakeRecognizerProcess()];
  const [first, second] = children;
  const sent: FromThread[] = [];
  const loop = new HearingLoop({
    clock,
    fork: () => children.shift() ?? new FakeRecognizerProcess(),
    send: (message) => sent.push(message),
  });
  const recognizer = { moduleUrl: 'file:///engine.ts', models: ['model'] };
  const started = loop.start({ detector: null, recognizer, recognizers: 1 });
  first?.says({ kind: 'loaded', outcome: { model: null, failures: ['no memory'] } });
  first?.exit('exit code 0');
  await started;
  const asks = (listener: number) => {
    openEar({ clock, child: new FakeRecognizerProcess(), loop, sent }, listener);
    loop.obey({ kind: 'begin', listener, fromMs: 0 });
    loop.obey({ kind: 'transcribe', listener, request: listener, priority: 'final' });
  };

  asks(1);
  await setImmediate();
  clock.advance(1000);
  second?.loads();
  await setImmediate();
  asks(2);

  expect(sent).toContainEqual(
    expect.objectContaining({
      kind: 'failed',
      listener: 1,
      reason: expect.stringContaining('no recogniser'),
    }),
  );
  expect(sent).toContainEqual({
    kind: 'recognizer',
    outcome: { model: 'model', failures: [] },
  });
  expect(second?.requests.length).toBe(1);
});

test('HearingLoop begins an utterance 300 ms before the voice', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  await send(loop, [heard], QUIET, 800);
  const beganAtMs = loop.clock.nowMs();
  await send(loop, [heard], LOUD, 200);

  loop.loop.obey({ kind: 'begin', listener: 1, fromMs: beganAtMs });
  loop.loop.obey({ kind: 'transcribe', listener: 1, request: 1, priority: 'final' });

  const samples = loop.child.received.flatMap((message) =>
    message.kind === 'audio' ? Array.from(message.pcm) : [],
  );
  expect(samples.filter((sample) => sample === QUIET).length).toBe(2400);
  expect(samples.filter((sample) => sample === LOUD).length).toBe(1600);
});

test('HearingLoop does not believe words where no voice was', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  loop.loop.obey({ kind: 'begin', listener: 1, fromMs: loop.clock.nowMs() });
  await send(loop, [heard], QUIET, 1000);

  loop.loop.obey({ kind: 'transcribe', listener: 1, request: 1, priority: 'final' });
  loop.child.answers('Thank you for watching.');
  await setImmediate();

  expect(loop.sent.at(-1)).toMatchObject({ kind: 'answer', request: 1, recognition: { text: '' } });
});

test('HearingLoop goes on at the oldest audio when it was held up too long', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  await send(loop, [heard], QUIET, 100);
  for (let frame = 0; frame < 500; frame += 1) {
    heard.write(new Int16Array(FRAME_SAMPLES).fill(LOUD), loop.clock.nowMs());
  }

  await send(loop, [heard], QUIET, 320);

  const kinds = loop.sent.flatMap((message) =>
    message.kind === 'voice' ? [message.event.kind] : [],
  );
  // Ten seconds of an even level are people around the caller.
  expect(kinds).toEqual(['voice-started', 'background-talk']);
});

test('HearingLoop rests when no listener is open, and says nothing of closed ones', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  await send(loop, [heard], LOUD, 40);

  loop.loop.obey({ kind: 'close', listener: 1 });
  await send(loop, [heard], LOUD, 320);

  expect(loop.sent).toEqual([]);
  expect(loop.clock.waiting).toBe(0);
});

test('HearingLoop refuses a request about an listener that is closed', async () => {
  const loop = await startLoop();

  loop.loop.obey({ kind: 'transcribe', listener: 9, request: 3, priority: 'final' });

  expect(loop.sent).toMatchObject([{ kind: 'failed', listener: 9, request: 3 }]);
});

test('HearingLoop tells the recogniser which names are likely to be said', async () => {
  const loop = await startLoop();
  const { buffer } = new ReceiveRing();
  const order = { kind: 'open', listener: 1, ring: buffer, position: 0, language: 'en' } as const;
  loop.loop.obey({ ...order, prompt: 'Acme Clinic, Sales.' });

  loop.loop.obey({ kind: 'begin', listener: 1, fromMs: loop.clock.nowMs() });
  loop.loop.obey({ kind: 'transcribe', listener: 1, request: 2, priority: 'final' });

  const opened = loop.child.received.find(({ kind }) => kind === 'open');
  expect(opened).toMatchObject({ language: 'en', prompt: 'Acme Clinic, Sales.' });
});

test('HearingLoop passes on what is recognised without characters that cannot be seen', async () => {
  const loop = await startLoop();
  const heard = openEar(loop, 1);
  loop.loop.obey({ kind: 'begin', listener: 1, fromMs: loop.clock.nowMs() });
  await send(loop, [heard], LOUD, 1000);

  loop.loop.obey({ kind: 'transcribe', listener: 1, request: 1, priority: 'final' });
  loop.child.answers('Pay \u202E05\u202C now\u009B.');
  await setImmediate();

  expect(loop.sent.at(-1)).toMatchObject({ recognition: { text: 'Pay 05 now .' } });
});
