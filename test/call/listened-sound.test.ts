import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ListenedSound } from '../../src/call/live-calls.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';

const FRAMES = 100;
const START_MS = 1_000_000;

interface TimedAction {
  readonly atMs: number;
  readonly act: () => void;
}

/** Runs of equal samples of one channel, as `[value, length]`; silence between them is left out. */
function runsOf(pcm: Int16Array, channel: number): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = channel; at < pcm.length; at += 2) {
    const value = pcm[at] ?? 0;
    const last = runs.at(-1);
    if (last?.[0] === value) last[1] += 1;
    else runs.push([value, 1]);
  }
  return runs.filter(([value]) => value !== 0);
}

test('ListenedSound loses and repeats nothing that comes within 60 ms of its time, however unevenly it is asked', () => {
  const jitters = fc.array(fc.integer({ min: 0, max: 59 }), {
    minLength: FRAMES,
    maxLength: FRAMES,
  });
  const pauses = fc.array(fc.integer({ min: 60, max: 400 }), { minLength: 40, maxLength: 40 });

  fc.assert(
    fc.property(jitters, pauses, (jitterMs, pauseMs) => {
      const [heard, played] = [new ReceiveRing(), new ReceiveRing()];
      const tap = { open: () => played, close: () => undefined };
      const sound = new ListenedSound({ heard, tap }, START_MS);
      const taken: { readonly atMs: number; readonly bytes: Buffer }[] = [];
      const actions: TimedAction[] = [];
      let lastAtMs = 0;
      jitterMs.forEach((late, index) => {
        const value = index + 1;
        // The network keeps the order; what it held up comes at once.
        lastAtMs = Math.max(lastAtMs, START_MS + value * 20 + late);
        const atMs = lastAtMs;
        const caller = () => heard.write(new Int16Array(160).fill(value), atMs);
        const agent = () => played.write(new Int16Array(160).fill(-value), START_MS + value * 20);
        actions.push({ atMs, act: caller }, { atMs: START_MS + value * 20, act: agent });
      });
      let askedAtMs = START_MS;
      for (const pause of [...pauseMs, 1000]) {
        askedAtMs += pause;
        const atMs = askedAtMs;
        const take = () => taken.push({ atMs, bytes: sound.take(atMs) });
        actions.push({ atMs, act: take });
      }

      for (const { act } of actions.toSorted((one, other) => one.atMs - other.atMs)) act();

      const bytes = Buffer.concat(taken.map((piece) => piece.bytes));
      const pcm = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
      const values = Array.from({ length: FRAMES }, (_, index) => index + 1);
      expect(pcm.length / 2).toBe((askedAtMs - START_MS - 120) * 8);
      expect(runsOf(pcm, 1)).toEqual(values.map((value) => [-value, 160]));
      expect(runsOf(pcm, 0).map(([value]) => value)).toEqual(values);
    }),
    { numRuns: 100, seed: 6 },
  );
});

test('ListenedSound gives whole frames of both sides, whatever the time', () => {
  const heard = new ReceiveRing();
  const sound = new ListenedSound(
    { heard, tap: { open: () => new ReceiveRing(), close: () => undefined } },
    START_MS,
  );

  fc.assert(
    fc.property(fc.double({ min: 0, max: 5000, noNaN: true }), (afterMs) => {
      expect(sound.take(START_MS + afterMs).length % 4).toBe(0);
    }),
    { seed: 6 },
  );
});
