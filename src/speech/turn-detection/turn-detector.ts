/** End-of-turn detection: the model's port, the engine Smart Turn, and the scores of pauses, one call at a time. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { VoiceEvent } from '../hearing/hearing.ts';
import type { LoadOutcome, SpeechEngine } from '../models/model-files.ts';
import {
  forkModelChild,
  type ModelChild,
  ModelProcess,
  type Note,
} from '../stt/pool/model-process.ts';

/** The pause is over after this time; a child that takes longer hangs. */
const SCORE_MS_MAX = 3000;

/** Longer queues would bring scores too late. */
const WAITING_MAX = 32;

/** The turn detector's child process. */
export type TurnProcess = ModelChild<ToTurnChild, FromTurnChild>;

/** Forks a turn detector; it loads nothing before the message `load`. */
export function forkTurnDetector(): TurnProcess {
  return forkModelChild(new URL('./turn-child.ts', import.meta.url));
}

interface Request {
  readonly id: number;
  readonly listener: number;
  readonly pcm: Int16Array;
  readonly resolve: (probability: number | null) => void;
}

/** The turn detector's process with its queue: one score at a time, for each call the newest pause alone. */
export class TurnLane {
  readonly #clock: Clock;
  readonly #note: Note;
  readonly #process: ModelProcess<ToTurnChild, FromTurnChild>;
  /** Waiting requests by listener, oldest first. */
  readonly #waiting = new Map<number, Request>();
  #running: Request | null = null;
  #cancelWatch: () => void = () => undefined;
  #lastId = 0;

  constructor(options: {
    readonly fork: () => TurnProcess;
    readonly clock: Clock;
    readonly moduleUrl: string;
    readonly note: Note;
  }) {
    const { fork, clock, moduleUrl, note } = options;
    this.#clock = clock;
    this.#note = note;
    this.#process = new ModelProcess({
      ...{ fork, clock, note, job: 'Turn detector', loading: { moduleUrl } },
      onDown: () => this.#dropAll(),
      onMessage: (message) => this.#settle(message),
    });
  }

  /** Starts the process with the first usable model. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#process.start(models);
  }

  /** Resolves all waiting scores to null and ends the process. Safe to call twice. */
  async stop(): Promise<void> {
    this.#dropAll();
    await this.#process.stop();
  }

  /** Scores a pause. Resolves to null without a score: the child has ended or is too slow, or a newer pause came. */
  score(listener: number, pcm: Int16Array): Promise<number | null> {
    if (!this.#process.isUp) return Promise.resolve(null);
    this.forget(listener);
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(null);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(listener, { id, listener, pcm, resolve });
      this.#dispatch();
    });
  }

  /** Drops the waiting request of one listener. */
  forget(listener: number): void {
    this.#waiting.get(listener)?.resolve(null);
    this.#waiting.delete(listener);
  }

  #dispatch(): void {
    const [next] = this.#waiting.values();
    if (this.#running !== null || next === undefined) return;
    this.#waiting.delete(next.listener);
    this.#running = next;
    this.#cancelWatch = this.#clock.after(SCORE_MS_MAX, () => this.#process.replace());
    this.#process.send({ kind: 'score', request: next.id, pcm: next.pcm });
  }

  #settle(message: FromTurnChild): void {
    const running = this.#running;
    if (message.request !== running?.id) return;
    this.#cancelWatch();
    this.#running = null;
    if (message.kind === 'failed') {
      this.#note({ reason: message.reason }, 'Turn detector failed: the words alone decide');
    }
    running.resolve(message.kind === 'scored' ? message.probability : null);
    this.#dispatch();
  }

  #dropAll(): void {
    this.#cancelWatch();
    const running = this.#running;
    this.#running = null;
    running?.resolve(null);
    for (const listener of [...this.#waiting.keys()]) this.forget(listener);
  }
}

/** Pipecat runs Smart Turn after 0.2 s of silence. A little earlier, and its score is there before the shortest wait ends. */
const QUIET_MS = 160;

/** The newest audio that counts: 8 s at 8 kHz. */
export const TURN_SAMPLES = 64_000;

/** Requests a score for each pause, once, from its voice events. */
export class TurnWatch {
  readonly #lane: Pick<TurnLane, 'score' | 'forget'>;
  readonly #audioOf: (listener: number) => Int16Array | null;
  readonly #emit: (listener: number, event: VoiceEvent) => void;
  /** Listeners in a pause without a score request: the instant of their last voice. */
  readonly #quiet = new Map<number, number>();

  constructor(options: {
    readonly lane: Pick<TurnLane, 'score' | 'forget'>;
    /** The caller's audio of this turn, at most `TURN_SAMPLES`; null outside an utterance. */
    readonly audioOf: (listener: number) => Int16Array | null;
    readonly emit: (listener: number, event: VoiceEvent) => void;
  }) {
    this.#lane = options.lane;
    this.#audioOf = options.audioOf;
    this.#emit = options.emit;
  }

  /** Follows a voice event of a listener. */
  received(listener: number, event: VoiceEvent): void {
    if (event.kind === 'voice-stopped') this.#quiet.set(listener, event.lastVoicedAtMs);
    else if (event.kind !== 'turn-scored') this.forget(listener);
  }

  /** Requests the scores that are due. Call it at every tick. */
  tick(nowMs: number): void {
    for (const [listener, lastVoicedAtMs] of this.#quiet) {
      if (nowMs - lastVoicedAtMs < QUIET_MS) continue;
      this.#quiet.delete(listener);
      void this.#score(listener, lastVoicedAtMs);
    }
  }

  forget(listener: number): void {
    this.#quiet.delete(listener);
    this.#lane.forget(listener);
  }

  async #score(listener: number, lastVoicedAtMs: number): Promise<void> {
    const pcm = this.#audioOf(listener);
    const probability = pcm === null ? null : await this.#lane.score(listener, pcm);
    if (probability === null) return;
    this.#emit(listener, { kind: 'turn-scored', lastVoicedAtMs, probability });
  }
}

/** Scores from the sound of a pause whether the caller has finished the turn. */
export interface TurnDetector {
  /**
   * Scores a pause.
   *
   * @param pcm the caller's audio of this turn and the silence after it: 8 kHz, mono, signed 16-bit; the newest 8 s count.
   * @returns chance that the turn is complete, from 0 to 1.
   */
  score(pcm: Int16Array): Promise<number>;

  /** Releases the model. Call it when no score is under way. */
  close(): Promise<void>;
}

/** Exports of an end-of-turn engine's module. */
export interface TurnDetectorModule {
  /** @throws {Error} naming the file, its fault and the remedy. */
  openTurnDetector(modelPath: string): Promise<TurnDetector>;
}

/** Message to the child, besides `load` and `stop`. `pcm` as for `TurnDetector.score`. */
export interface ToTurnChild {
  readonly kind: 'score';
  readonly request: number;
  readonly pcm: Int16Array;
}

/** Messages from the child, besides `loaded`. */
export type FromTurnChild =
  | { readonly kind: 'scored'; readonly request: number; readonly probability: number }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };

/** Finds `turn/<file>.onnx` and `turn/<name>/<file>.onnx` in the models folder. */
export const smartTurnEngine: SpeechEngine = {
  name: 'smart-turn',
  moduleUrl: new URL('./smart-turn-detector.ts', import.meta.url).href,
  find: (modelsDir) =>
    globSync(['turn/*.onnx', 'turn/*/*.onnx'], { cwd: modelsDir })
      .sort()
      .map((path) => join(modelsDir, path)),
};
