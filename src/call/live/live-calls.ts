/** Calls in progress, real and simulated ones as one: look-up, hang-up, transfer, level meters, listening in, quality, waveforms. */

import type { Scope } from '../../domain/agent/agent.ts';
import type { CallQuality } from '../../domain/call/call-life.ts';
import type {
  CallLevels,
  Listening,
  LiveCalls,
  LiveSound,
  SoundListener,
} from '../../domain/call/live-sound.ts';
import type { ReadPeaks } from '../../domain/call/recording-link.ts';
import { type Clock, systemClock, waitAtMost } from '../../lib/clock.ts';
import { readWavPeaks } from '../../media/recording/wav-file.ts';
import type { Leg } from '../../telephony/carrier.ts';
import type { CallInProgress } from '../call-registry.ts';
import { qualityOf } from '../session/call-quality.ts';
import { LevelRounds, ListenerRounds, type RoundOptions } from './listener-rounds.ts';

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

/** Finds a call's audio for listening in, level meters and quality figures. */
export class CallSound implements LiveSound {
  readonly #levels: LevelRounds;
  readonly #listeners: ListenerRounds;
  readonly #inProgress: RoundOptions['inProgress'];

  constructor(options: RoundOptions) {
    this.#inProgress = options.inProgress;
    this.#levels = new LevelRounds(options);
    this.#listeners = new ListenerRounds(options);
  }

  watchLevels(scope: Scope, onLevels: (levels: readonly CallLevels[]) => void): () => void {
    return this.#levels.watch(scope, onLevels);
  }

  listen(callId: string, listener: SoundListener): Listening {
    return this.#listeners.add(callId, listener);
  }

  async quality(callId: string): Promise<CallQuality | undefined> {
    const call = this.#inProgress().find((one) => one.callId === callId);
    return call && qualityOf(await call.audio.stats());
  }

  close(): void {
    this.#levels.close();
    this.#listeners.close();
  }
}

/** Closing a line writes the last second of its recording. */
const LINE_CLOSE_MS_MAX = 5000;

/** Resolves when the recording is whole; a disk that hangs must not keep the record from its end. */
export async function lineClosed(leg: Leg, clock: Clock): Promise<void> {
  // Over already: nothing is said to the far end, only waited for what ends with the leg.
  const ended = leg.hangUp().catch(() => undefined);
  await waitAtMost(clock, LINE_CLOSE_MS_MAX, ended);
}
