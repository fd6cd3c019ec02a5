/** Asks the turn detector about every pause of every call, once the pause is long enough to be one. */
import type { VoiceEvent } from '../hearing/hearing.ts';
import type { TurnLane } from './turn-lane.ts';

/** Pipecat asks Smart Turn after 0.2 s of quiet. A little sooner, and its answer is there before the shortest wait is over. */
const QUIET_MS = 160;

/** The newest audio that counts: 8 s at 8 kHz. */
export const TURN_SAMPLES = 64_000;

export class TurnWatch {
  readonly #lane: Pick<TurnLane, 'score' | 'forget'>;
  readonly #audioOf: (ear: number) => Int16Array | null;
  readonly #tell: (ear: number, event: VoiceEvent) => void;
  /** Ears that have fallen quiet and were not asked about: when each was last voiced. */
  readonly #quiet = new Map<number, number>();

  constructor(options: {
    lane: Pick<TurnLane, 'score' | 'forget'>;
    /** What was said in this turn so far, `TURN_SAMPLES` at most; null while nobody keeps it. */
    audioOf: (ear: number) => Int16Array | null;
    tell: (ear: number, event: VoiceEvent) => void;
  }) {
    this.#lane = options.lane;
    this.#audioOf = options.audioOf;
    this.#tell = options.tell;
  }

  /** Takes notice of a voice event of an ear. */
  heard(ear: number, event: VoiceEvent): void {
    if (event.kind === 'voice-stopped') this.#quiet.set(ear, event.lastVoicedAtMs);
    else if (event.kind === 'voice-started') this.forget(ear);
  }

  /** Has those scored that have been quiet for long enough. Call it at every tick. */
  tick(nowMs: number): void {
    for (const [ear, lastVoicedAtMs] of this.#quiet) {
      if (nowMs - lastVoicedAtMs < QUIET_MS) continue;
      this.#quiet.delete(ear);
      void this.#score(ear, lastVoicedAtMs);
    }
  }

  forget(ear: number): void {
    this.#quiet.delete(ear);
    this.#lane.forget(ear);
  }

  async #score(ear: number, lastVoicedAtMs: number): Promise<void> {
    const pcm = this.#audioOf(ear);
    const probability = pcm === null ? null : await this.#lane.score(ear, pcm);
    if (probability !== null) this.#tell(ear, { kind: 'turn-scored', lastVoicedAtMs, probability });
  }
}
