/** Calls in progress, real and simulated ones as one: look-up, hang-up, transfer, live sound, waveforms. */
import type { LiveCalls, LiveSound } from '../../domain/call/live-sound.ts';
import type { ReadPeaks } from '../../domain/call/recording-link.ts';
import { systemClock } from '../../lib/clock.ts';
import { readWavPeaks } from '../../media/recording/wav-peaks.ts';
import type { CallInProgress } from '../call-registry.ts';
import { CallSound } from '../session/call-sound.ts';

/** Recordings read at a time: each read is a task of the thread pool that also writes recordings. */
const READ_AT_ONCE_MAX = 2;

/** A registry of calls in progress. */
interface Holder extends LiveCalls {
  readonly inProgress: readonly CallInProgress[];
}

/** Joins two registries; a call is in one of them at most. */
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

/** Reads the waveforms of recordings, two at a time; answers `busy` beyond that. */
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
