/** Live sound of this process's calls: level meters, listening in, quality. */

import type { Scope } from '../../domain/agent/agent.ts';
import type { CallQuality } from '../../domain/call/call-life.ts';
import type {
  CallLevels,
  Listening,
  LiveSound,
  SoundListener,
} from '../../domain/call/live-sound.ts';
import type { Clock } from '../../lib/clock.ts';
import { waitAtMost } from '../../lib/time-limit.ts';
import type { Leg } from '../../telephony/carrier.ts';
import { LevelRounds, ListenerRounds, type RoundOptions } from '../live/listener-rounds.ts';
import { qualityOf } from './call-quality.ts';

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
