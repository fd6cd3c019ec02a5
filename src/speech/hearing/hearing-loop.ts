/** The work of the hearing thread: every 32 ms it reads all calls and scores their voices in one run. */
import type { Clock } from '../../lib/clock.ts';
import { ReceiveRing } from '../../media/buffers/receive-ring.ts';
import type { LoadOutcome } from '../models/speech-engine.ts';
import { RecognizerPool } from '../stt/pool/recognizer-pool.ts';
import type { RecognizerProcess } from '../stt/pool/recognizer-process.ts';
import { TurnLane } from '../turn-detection/turn-lane.ts';
import { forkTurnDetector, type TurnProcess } from '../turn-detection/turn-process.ts';
import type { Vad, VadModule } from '../vad/vad.ts';
import { VadTrack } from '../vad/vad-track.ts';
import { CallListener } from './call-listener.ts';
import type { VoiceEvent } from './hearing.ts';
import type { EngineOrder, FromThread, HearingOrder, ToThread } from './hearing-messages.ts';

/** One detector window. */
const TICK_MS = 32;

const NOTHING_TRIED: LoadOutcome = { model: null, failures: [] };

interface OpenEar {
  readonly listener: CallListener;
}

export class HearingLoop {
  readonly #clock: Clock;
  readonly #fork: () => RecognizerProcess;
  readonly #forkTurn: () => TurnProcess;
  readonly #send: (message: FromThread) => void;
  readonly #ears = new Map<number, OpenEar>();
  readonly #cancels = new Map<number, () => void>();
  #detector: Vad | null = null;
  #pool: RecognizerPool | null = null;
  #turnLane: TurnLane | null = null;
  #turns: TurnWatch | null = null;
  #nextTickAtMs = 0;
  #cancelTick: () => void = () => undefined;
  /** Settles when the tick under way is over. */
  #tick: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: {
    clock: Clock;
    fork: () => RecognizerProcess;
    forkTurn?: () => TurnProcess;
    send: (message: FromThread) => void;
  }) {
    this.#clock = options.clock;
    this.#fork = options.fork;
    this.#forkTurn = options.forkTurn ?? forkTurnDetector;
    this.#send = options.send;
  }

  /** Loads the models and says `started`. */
  async start(order: HearingOrder): Promise<void> {
    const [detector, recognizer, turn] = await Promise.all([
      order.detector === null ? NOTHING_TRIED : this.#loadDetector(order.detector),
      order.recognizer === null
        ? NOTHING_TRIED
        : this.#startRecognizers(order.recognizer, order.recognizers),
      order.turn ? this.#startTurnDetector(order.turn) : NOTHING_TRIED,
    ]);
    this.#send({ kind: 'started', detector, recognizer, turn });
  }

  /** Ends the children and lets go of the detector, after the tick under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTick();
    await Promise.all([this.#tick, this.#pool?.stop(), this.#turnLane?.stop()]);
    await this.#detector?.close();
    this.#detector = null;
  }

  /** Does what a message says; `stop` is the thread's own. */
  obey(message: Exclude<ToThread, { kind: 'stop' }>): void {
    switch (message.kind) {
      case 'open':
        this.#open(message);
        break;
      case 'begin':
        this.#ears.get(message.ear)?.listener.begin(message.fromMs);
        break;
      case 'transcribe':
        this.#transcribe(message);
        break;
      case 'cancel':
        this.#cancels.get(message.request)?.();
        break;
      case 'end':
        this.#ears.get(message.ear)?.listener.end();
        break;
      case 'close':
        this.#close(message.ear);
        break;
      default:
        message satisfies never;
    }
  }

  async #loadDetector({ moduleUrl, models }: EngineOrder): Promise<LoadOutcome> {
    const { openVoiceDetector } = (await import(moduleUrl)) as VadModule;
    const failures: string[] = [];
    for (const model of models) {
      try {
        this.#detector = await openVoiceDetector(model);
        const { drawback } = this.#detector;
        return { model, failures, ...(drawback !== undefined && { drawback }) };
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
    return { model: null, failures };
  }

  async #startRecognizers(order: EngineOrder, size: number): Promise<LoadOutcome> {
    const pool = new RecognizerPool({
      size,
      fork: this.#fork,
      clock: this.#clock,
      ...order,
      note: (fields, message) => this.#send({ kind: 'note', fields, message }),
      onOutcome: (outcome) => this.#send({ kind: 'recognizer', outcome }),
    });
    // Known from the first fork on, so that a stop in the middle of loading ends the children too.
    this.#pool = pool;
    return pool.start(order.models);
  }

  async #startTurnDetector({ moduleUrl, models }: EngineOrder): Promise<LoadOutcome> {
    const lane = new TurnLane({
      fork: this.#forkTurn,
      clock: this.#clock,
      moduleUrl,
      note: (fields, message) => this.#send({ kind: 'note', fields, message }),
    });
    this.#turnLane = lane;
    const outcome = await lane.start(models);
    if (outcome.model !== null) {
      this.#turns = new TurnWatch({
        lane,
        audioOf: (ear) => this.#ears.get(ear)?.listener.newest(TURN_SAMPLES) ?? null,
        tell: (ear, event) => this.#tell(ear, event),
      });
    }
    return outcome;
  }

  #open({ ear, heard, ...order }: Extract<ToThread, { kind: 'open' }>): void {
    const track = this.#detector === null ? null : new VadTrack(this.#detector);
    const listener = new CallListener({
      heard: new ReceiveRing(heard),
      ...order,
      track,
      desk: this.#pool?.hasModel === true ? this.#pool.join() : null,
    });
    this.#ears.set(ear, { listener });
    if (this.#ears.size === 1) this.#startTicking();
  }

  #close(ear: number): void {
    const open = this.#ears.get(ear);
    if (open === undefined) return;
    open.listener.end();
    this.#turns?.forget(ear);
    this.#ears.delete(ear);
  }

  #transcribe({ ear, request, ...order }: Extract<ToThread, { kind: 'transcribe' }>): void {
    const listener = this.#ears.get(ear)?.listener;
    if (listener === undefined) {
      const reason = 'Cannot recognise the utterance: the ear is closed';
      this.#send({ kind: 'failed', ear, request, reason });
      return;
    }
    const { answer, cancel } = listener.transcribe(order);
    this.#cancels.set(request, cancel);
    answer
      .then(
        (recognition) => this.#send({ kind: 'answer', ear, request, recognition }),
        (error) => this.#send({ kind: 'failed', ear, request, reason: messageOf(error) }),
      )
      .finally(() => this.#cancels.delete(request));
  }

  #startTicking(): void {
    this.#nextTickAtMs = this.#clock.nowMs();
    this.#tickLater();
  }

  /** Ticks are due at fixed instants, so that they don't drift; one that was missed is left out. */
  #tickLater(): void {
    if (this.#isStopped || this.#ears.size === 0) return;
    this.#nextTickAtMs = Math.max(this.#nextTickAtMs + TICK_MS, this.#clock.nowMs());
    this.#cancelTick();
    const waitMs = Math.max(0, this.#nextTickAtMs - this.#clock.nowMs());
    this.#cancelTick = this.#clock.after(waitMs, () => {
      this.#tick = this.#listen().finally(() => this.#tickLater());
    });
  }

  /** Reads all calls, then scores a window of each at a time until no call has a whole one left. */
  async #listen(): Promise<void> {
    const ears = [...this.#ears];
    for (const [, { listener }] of ears) listener.read();
    let isMore = this.#detector !== null;
    while (isMore && !this.#isStopped) isMore = await this.#scoreWindows(ears);

    const nowMs = this.#clock.nowMs();
    for (const [ear, { listener }] of ears) this.#tell(ear, listener.noticeSilence(nowMs));
    this.#turns?.tick(nowMs);
  }

  async #scoreWindows(ears: readonly (readonly [number, OpenEar])[]): Promise<boolean> {
    const ready = ears.flatMap(([ear, { listener }]) => {
      const window = listener.takeWindow();
      return window === null ? [] : [{ ear, listener, window }];
    });
    if (ready.length === 0) return false;
    const scores = (await this.#detector?.score(ready.map(({ window }) => window))) ?? [];
    ready.forEach(({ ear, listener }, index) => {
      this.#tell(ear, listener.score(scores[index] ?? 0));
    });
    return true;
  }

  #tell(ear: number, event: VoiceEvent | null): void {
    if (event === null || !this.#ears.has(ear)) return;
    this.#turns?.heard(ear, event);
    this.#send({ kind: 'voice', ear, event });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Pipecat asks Smart Turn after 0.2 s of quiet. A little sooner, and its answer is there before the shortest wait is over. */
const QUIET_MS = 160;

/** The newest audio that counts: 8 s at 8 kHz. */
const TURN_SAMPLES = 64_000;

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
