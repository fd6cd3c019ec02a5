/** The sound of a simulated call: both parties on one time line, and which one yields when both speak. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PartyStep } from '../../src/domain/sandbox-scenario.ts';
import type { AudioEvent } from '../../src/media/audio-stream.ts';
import { SandboxLine } from '../../src/telephony/sandbox/sandbox-leg.ts';
import { readStereo } from '../support/speech/recording.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const SAMPLES_PER_MS = 8;
const CALLER_SAMPLE = 3000;
const AGENT_SAMPLE = -5000;

const sound = (lengthMs: number, sample: number) =>
  new Int16Array(lengthMs * SAMPLES_PER_MS).fill(sample);

/** A party whose every sentence takes a second. */
function openLine(steps: readonly PartyStep[]) {
  const clock = new FakeClock(1000);
  const events: AudioEvent[] = [];
  const ends: string[] = [];
  const line = new SandboxLine({
    script: { ringingMs: 0, refusedWith: null, steps },
    pcmOf: () => sound(1000, CALLER_SAMPLE),
    partyNumber: '+12025550199',
    farEnd: { hangUp: () => ends.push('hang-up'), breakOff: () => ends.push('break') },
  });
  line.onEvent((event) => events.push(event));
  line.setPauseAfter(60);
  return { line, clock, events, ends };
}

function sayFor(line: SandboxLine, generation: number, lengthMs: number): void {
  line.begin(generation);
  line.say(generation, sound(lengthMs, AGENT_SAMPLE));
  line.finish(generation);
}

const SPEAKS_AFTER_A_SECOND: readonly PartyStep[] = [
  { kind: 'wait', waitMs: 1000 },
  { kind: 'say', text: 'Wait a moment' },
];

test('SandboxLine plays a reply at the pace of its clock', () => {
  const { line, clock, events } = openLine([]);

  line.open(clock);
  sayFor(line, 1, 500);
  clock.advance(480);
  const before = [...events];
  clock.advance(60);

  expect(before).toEqual([{ kind: 'playout-started', generation: 1, atMs: 1020 }]);
  expect(events.slice(1)).toEqual([
    { kind: 'playout-finished', generation: 1, playedMs: 500, isComplete: true },
  ]);
});

test('SandboxLine pauses the reply when the party speaks, and tells how much was heard', () => {
  const { line, clock, events } = openLine(SPEAKS_AFTER_A_SECOND);

  line.open(clock);
  sayFor(line, 1, 3000);
  clock.advance(1200);

  expect(events).toEqual([
    { kind: 'playout-started', generation: 1, atMs: 1020 },
    { kind: 'voice-started', atMs: 2000 },
    { kind: 'playout-paused', generation: 1, playedMs: 1060 },
  ]);
});

test('SandboxLine plays on from where it paused', () => {
  const { line, clock, events } = openLine(SPEAKS_AFTER_A_SECOND);

  line.open(clock);
  sayFor(line, 1, 2000);
  clock.advance(1500);
  line.resume(1);
  clock.advance(960);
  const finished = events.at(-1);

  expect(finished).toMatchObject({ kind: 'playout-finished', playedMs: 2000, isComplete: true });
});

test('SandboxLine drops the rest of a reply', () => {
  const { line, clock, events } = openLine([]);

  line.open(clock);
  sayFor(line, 1, 2000);
  clock.advance(500);
  line.drop(1);
  clock.advance(5000);

  expect(events.slice(1)).toEqual([
    { kind: 'playout-finished', generation: 1, playedMs: 500, isComplete: false },
  ]);
});

test('SandboxLine ends an older reply when a newer one begins, and ignores what comes of the older one', () => {
  const { line, clock, events } = openLine([]);

  line.open(clock);
  sayFor(line, 1, 2000);
  clock.advance(200);
  sayFor(line, 2, 100);
  line.say(1, sound(1000, AGENT_SAMPLE));
  clock.advance(1000);

  expect(events.slice(1)).toMatchObject([
    { kind: 'playout-finished', generation: 1, playedMs: 200, isComplete: false },
    { kind: 'playout-started', generation: 2 },
    { kind: 'playout-finished', generation: 2, playedMs: 100, isComplete: true },
  ]);
});

test('SandboxLine does not pause a reply that may not be interrupted', () => {
  const { line, clock, events } = openLine(SPEAKS_AFTER_A_SECOND);

  line.setPauseAfter(null);
  line.open(clock);
  sayFor(line, 1, 1500);
  clock.advance(3000);

  expect(events.map(({ kind }) => kind)).toEqual([
    'playout-started',
    'voice-started',
    'playout-finished',
    'voice-stopped',
  ]);
});

test('SandboxLine tells when the party fell silent', () => {
  const { line, clock, events } = openLine([
    { kind: 'press', digits: '' },
    ...SPEAKS_AFTER_A_SECOND,
  ]);

  line.open(clock);
  clock.advance(2100);

  expect(events).toEqual([
    { kind: 'voice-started', atMs: 2000 },
    { kind: 'voice-stopped', lastVoicedAtMs: 3000 },
  ]);
});

test('SandboxLine catches up with missed time, in order', () => {
  const { line, clock, events } = openLine(SPEAKS_AFTER_A_SECOND);
  // The clock jumps, as it does for a process that was busy.
  const late = { nowMs: () => clock.nowMs(), now: () => clock.now(), after: () => () => undefined };

  line.open(late);
  sayFor(line, 1, 500);
  clock.advance(2500);
  line.resume(1);

  expect(events).toEqual([
    { kind: 'playout-started', generation: 1, atMs: 1020 },
    { kind: 'playout-finished', generation: 1, playedMs: 500, isComplete: true },
    { kind: 'voice-started', atMs: 2000 },
    { kind: 'voice-stopped', lastVoicedAtMs: 3000 },
  ]);
});

test('SandboxLine records the party on the left and the agent on the right, each at its time', async () => {
  const path = join(testFolder(), 'call.wav');
  const { line, clock } = openLine(SPEAKS_AFTER_A_SECOND);

  line.open(clock);
  line.record(path);
  sayFor(line, 1, 500);
  clock.advance(2400);
  await line.close();
  await line.close();
  const recording = readStereo(path);

  const at = (atMs: number) => [
    recording?.left[atMs * SAMPLES_PER_MS],
    recording?.right[atMs * SAMPLES_PER_MS],
  ];
  expect(recording?.left.length).toBe(2400 * SAMPLES_PER_MS);
  expect([at(250), at(750), at(1500), at(2300)]).toEqual([
    [0, AGENT_SAMPLE],
    [0, 0],
    [CALLER_SAMPLE, 0],
    [0, 0],
  ]);
});

test('SandboxLine does nothing before it is open, and nothing after it is closed', async () => {
  const { line, clock, events, ends } = openLine([
    { kind: 'wait', waitMs: 100 },
    { kind: 'hang-up' },
  ]);

  clock.advance(1000);
  line.open(clock);
  await line.close();
  clock.advance(1000);

  expect(events).toEqual([]);
  expect(ends).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('SandboxLine passes on the keys that the party presses, and its end', () => {
  const { line, clock, events, ends } = openLine([
    { kind: 'press', digits: '1#' },
    { kind: 'hang-up' },
  ]);

  line.open(clock);
  clock.advance(1000);

  expect(events).toEqual([
    { kind: 'digit', digit: '1', durationMs: 100 },
    { kind: 'digit', digit: '#', durationMs: 100 },
  ]);
  expect(ends).toEqual(['hang-up']);
});

test('SandboxLine counts no packets', async () => {
  const { line } = openLine([]);

  expect(await line.stats()).toMatchObject({ packetsReceived: 0, packetsSent: 0 });
});
