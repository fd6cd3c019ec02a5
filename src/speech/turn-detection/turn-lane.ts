/** The calls that wait for the turn detector's child: one score at a time, of each call the newest pause alone. */
import type { Clock } from '../../lib/clock.ts';
import type { LoadOutcome } from '../models/speech-engine.ts';
import { ChildKeeper } from '../stt/pool/child-keeper.ts';
import type { FromTurnChild, ToTurnChild } from './turn-messages.ts';
import type { TurnProcess } from './turn-process.ts';

/** A pause is over by then, one way or the other; a child that takes longer hangs. */
const SCORE_MS_MAX = 3000;

/** Who would wait behind so many others is better off without. */
const WAITING_MAX = 32;

interface Request {
  readonly id: number;
  readonly ear: number;
  readonly pcm: Int16Array;
  readonly resolve: (probability: number | null) => void;
}

export class TurnLane {
  readonly #clock: Clock;
  readonly #note: (fields: object, message: string) => void;
  readonly #keeper: ChildKeeper<ToTurnChild, FromTurnChild>;
  /** By ear, in the order they came. */
  readonly #waiting = new Map<number, Request>();
  #running: Request | null = null;
  #cancelWatch: () => void = () => undefined;
  #lastId = 0;

  constructor(options: {
    fork: () => TurnProcess;
    clock: Clock;
    moduleUrl: string;
    /** Writes a line to the log. */
    note: (fields: object, message: string) => void;
  }) {
    const { fork, clock, moduleUrl } = options;
    this.#clock = clock;
    this.#note = options.note;
    const listener = {
      onUp: () => undefined,
      onDown: (how: string) => this.#down(how),
      onMessage: (message: FromTurnChild) => this.#settle(message),
    };
    this.#keeper = new ChildKeeper({ fork, clock, moduleUrl, listener });
  }

  /** Starts the process with the first of the models that can be loaded. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#keeper.start(models);
  }

  async stop(): Promise<void> {
    this.#giveUpAll();
    await this.#keeper.stop();
  }

  /** Scores a pause. Resolves to null where no score comes: the child is gone, too slow, or a newer pause came. */
  score(ear: number, pcm: Int16Array): Promise<number | null> {
    if (!this.#keeper.isUp) return Promise.resolve(null);
    this.forget(ear);
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(null);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(ear, { id, ear, pcm, resolve });
      this.#dispatch();
    });
  }

  /** Takes back what one ear waits for. */
  forget(ear: number): void {
    this.#waiting.get(ear)?.resolve(null);
    this.#waiting.delete(ear);
  }

  #dispatch(): void {
    const [next] = this.#waiting.values();
    if (this.#running !== null || next === undefined) return;
    this.#waiting.delete(next.ear);
    this.#running = next;
    this.#cancelWatch = this.#clock.after(SCORE_MS_MAX, () => this.#keeper.replace());
    this.#keeper.send({ kind: 'score', request: next.id, pcm: next.pcm });
  }

  #settle(message: FromTurnChild): void {
    const running = this.#running;
    if (message.kind === 'loaded' || message.request !== running?.id) return;
    this.#cancelWatch();
    this.#running = null;
    if (message.kind === 'failed') {
      this.#note({ reason: message.reason }, 'Turn detector failed: the words alone decide');
    }
    running.resolve(message.kind === 'scored' ? message.probability : null);
    this.#dispatch();
  }

  #down(how: string): void {
    this.#note({ how }, 'Turn detector ended: starting another');
    this.#giveUpAll();
  }

  #giveUpAll(): void {
    this.#cancelWatch();
    const running = this.#running;
    this.#running = null;
    running?.resolve(null);
    for (const ear of [...this.#waiting.keys()]) this.forget(ear);
  }
}

export interface TurnDetector {
  /**
   * Scores a pause.
   *
   * @param pcm what the caller has said in this turn and the quiet after it: 8 kHz, mono, signed 16-bit; the newest 8 s count.
   * @returns chance that the turn is complete, from 0 to 1.
   */
  score(pcm: Int16Array): Promise<number>;

  /** Lets go of the model. Call it when nothing is being scored. */
  close(): Promise<void>;
}

/** What the module of an engine that detects the end of a turn exports. */
export interface TurnDetectorModule {
  /** @throws {Error} naming the file, what is wrong with it and the remedy. */
  openTurnDetector(modelPath: string): Promise<TurnDetector>;
}
