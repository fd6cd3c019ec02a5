/** Composition root: what the interface asks of calls that go on, real and simulated ones alike, and of recordings. */
import type { CallInProgress } from '../call/call-registry.ts';
import { CallSound } from '../call/session/call-sound.ts';
import type { LiveCalls } from '../domain/call/live-calls.ts';
import type { LiveSound } from '../domain/call/live-sound.ts';
import type { ReadPeaks } from '../domain/call/recording-peaks.ts';
import { systemClock } from '../lib/clock.ts';
import { readWavPeaks } from '../media/recording/wav-peaks.ts';

/** Recordings that are read at a time: each read is a task of the pool that also writes recordings. */
const READ_AT_ONCE_MAX = 2;

/** Who holds calls. */
interface Holder extends LiveCalls {
  readonly inProgress: readonly CallInProgress[];
}

/** A call is held by one of the two at most. */
export function openLive(
  real: Holder,
  sandbox: Holder,
): {
  readonly liveCalls: LiveCalls;
  readonly liveSound: LiveSound;
  readonly readPeaks: ReadPeaks;
} {
  return {
    liveCalls: {
      holds: (id) => real.holds(id) || sandbox.holds(id),
      hangUp: (id) => real.hangUp(id) || sandbox.hangUp(id),
      transfer: (id, number, manner) => {
        const start = real.transfer(id, number, manner);
        return start === 'not-in-progress' ? sandbox.transfer(id, number, manner) : start;
      },
    },
    liveSound: new CallSound({
      clock: systemClock,
      inProgress: () => [...real.inProgress, ...sandbox.inProgress],
    }),
    readPeaks: peakReader(),
  };
}

/** Reads so many recordings at a time, and no more. */
export function peakReader(): ReadPeaks {
  let reading = 0;
  return async (file, points, signal) => {
    if (reading >= READ_AT_ONCE_MAX) return 'busy';
    reading += 1;
    try {
      const peaks = await readWavPeaks(file, points, signal);
      if (peaks === undefined) return 'none';
      return { durationMs: peaks.durationMs, caller: peaks.left, agent: peaks.right };
    } finally {
      reading -= 1;
    }
  };
}
