/** The work of the hearing thread: every 32 ms it reads all calls and scores their voice activity in one model run. */

import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { ReceiveRing } from '../../media/sound-rings.ts';
import type { LoadOutcome } from '../models/model-files.ts';
import { SpeechServers } from '../network/speech-servers.ts';
import { NetworkRecognizer } from '../stt/network/network-recognizer.ts';
import type {
  RecognitionServer,
  RecognitionServerModule,
  RecognitionServersOrder,
} from '../stt/network/recognition-server.ts';
import { openFirst } from '../stt/pool/model-process.ts';
import type { CallRecognizer } from '../stt/pool/recognition-request.ts';
import type { RecognizerProcess } from '../stt/pool/recognizer-lane.ts';
import { RecognizerPool } from '../stt/pool/recognizer-pool.ts';
import {
  forkTurnDetector,
  TURN_SAMPLES,
  TurnLane,
  type TurnProcess,
  TurnWatch,
} from '../turn-detection/turn-detector.ts';
import { type Vad, type VadModule, VadTrack } from '../vad/vad-track.ts';
import { CallListener } from './call-listener.ts';
import type { VoiceEvent } from './hearing.ts';
import type { EngineOrder, FromThread, HearingOrder, ToThread } from './hearing-messages.ts';

/** One window of the voice activity detector. */
const TICK_MS = 32;

const NOT_TRIED: LoadOutcome = { model: null, failures: [] };

export class HearingLoop {
  readonly #clock: Clock;
  readonly #fork: () => RecognizerProcess;
  readonly #forkTurn: () => TurnProcess;
  readonly #send: (message: FromThread) => void;
  readonly #listeners = new Map<number, CallListener>();
  readonly #cancels = new Map<number, () => void>();
  #vad: Vad | null = null;
  #pool: RecognizerPool | null = null;
  #servers: SpeechServers<RecognitionServer> | null = null;
  #network: NetworkRecognizer | null = null;
  #turnLane: TurnLane | null = null;
  #turns: TurnWatch | null = null;
  #nextTickAtMs = 0;
  #cancelTick: () => void = () => undefined;
  /** Settles when the running tick has ended. */
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

  /** Loads the models, then sends `started`. */
  async start(order: HearingOrder): Promise<void> {
    const [detector, recognizer, turn] = await Promise.all([
      order.detector === null ? NOT_TRIED : this.#loadDetector(order.detector),
      order.recognizer === null
        ? NOT_TRIED
        : this.#startRecognizers(order.recognizer, order.recognizers),
      order.turn ? this.#startTurnDetector(order.turn) : NOT_TRIED,
      order.servers === undefined ? undefined : this.#startServers(order.servers),
    ]);
    this.#send({ kind: 'started', detector, recognizer, turn });
  }

  /** Ends the children and releases the VAD after the running tick. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTick();
    this.#servers?.stop();
    await Promise.all([this.#tick, this.#pool?.stop(), this.#turnLane?.stop()]);
    await this.#vad?.close();
    this.#vad = null;
  }

  /** Handles a message; the thread itself handles `stop`. */
  obey(message: Exclude<ToThread, { kind: 'stop' }>): void {
    switch (message.kind) {
      case 'open':
        this.#open(message);
        break;
      case 'begin':
        this.#listeners.get(message.listener)?.begin(message.fromMs);
        break;
      case 'transcribe':
        this.#transcribe(message);
        break;
      case 'cancel':
        this.#cancels.get(message.request)?.();
        break;
      case 'end':
        this.#listeners.get(message.listener)?.end();
        break;
      case 'close':
        this.#close(message.listener);
        break;
      default:
        message satisfies never;
    }
  }

  async #loadDetector({ moduleUrl, models }: EngineOrder): Promise<LoadOutcome> {
    const { openVoiceDetector } = (await import(moduleUrl)) as VadModule;
    const { opened, outcome } = await openFirst(models, openVoiceDetector);
    this.#vad = opened;
    return outcome;
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
    // Set before the first fork, so that a stop during the load ends the children too.
    this.#pool = pool;
    return pool.start(order.models);
  }

  async #startServers(order: RecognitionServersOrder): Promise<void> {
    const { addresses, options, answerMs } = order;
    const module = (await import(order.moduleUrl)) as RecognitionServerModule;
    const servers = new SpeechServers({
      servers: addresses.map((address) => module.openRecognitionServer(address, options)),
      clock: this.#clock,
      onStates: (states) => this.#send({ kind: 'servers', states }),
      onRequest: (address, tookMs) => this.#send({ kind: 'server-request', address, tookMs }),
    });
    this.#servers = servers;
    this.#network = new NetworkRecognizer({
      servers,
      clock: this.#clock,
      answerMs,
      local: () => this.#joinPool(),
      onFallback: () => this.#send({ kind: 'server-fallback' }),
    });
    await servers.start();
    this.#send({ kind: 'servers', states: servers.states() });
  }

  #joinPool(): CallRecognizer | null {
    return this.#pool?.hasModel === true ? this.#pool.join() : null;
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
        audioOf: (id) => this.#listeners.get(id)?.newest(TURN_SAMPLES) ?? null,
        emit: (id, event) => this.#emit(id, event),
      });
    }
    return outcome;
  }

  #open({ listener: id, ring, ...order }: Extract<ToThread, { kind: 'open' }>): void {
    const listener = new CallListener({
      ring: new ReceiveRing(ring),
      ...order,
      track: this.#vad === null ? null : new VadTrack(this.#vad),
      recognizer: this.#network?.join() ?? this.#joinPool(),
    });
    this.#listeners.set(id, listener);
    if (this.#listeners.size === 1) this.#startTicking();
  }

  #close(id: number): void {
    this.#listeners.get(id)?.end();
    if (this.#listeners.delete(id)) this.#turns?.forget(id);
  }

  #transcribe({
    listener: id,
    request,
    ...order
  }: Extract<ToThread, { kind: 'transcribe' }>): void {
    const listener = this.#listeners.get(id);
    if (listener === undefined) {
      const reason = 'Cannot recognise the utterance: the listener is closed';
      this.#send({ kind: 'failed', listener: id, request, reason });
      return;
    }
    const { answer, cancel } = listener.transcribe(order);
    this.#cancels.set(request, cancel);
    answer
      .then(
        (recognition) => this.#send({ kind: 'answer', listener: id, request, recognition }),
        (error) => this.#send({ kind: 'failed', listener: id, request, reason: messageOf(error) }),
      )
      .finally(() => this.#cancels.delete(request));
  }

  #startTicking(): void {
    this.#nextTickAtMs = this.#clock.nowMs();
    this.#tickLater();
  }

  /** Ticks are due at fixed instants and do not drift; a missed tick is left out. */
  #tickLater(): void {
    if (this.#isStopped || this.#listeners.size === 0) return;
    this.#nextTickAtMs = Math.max(this.#nextTickAtMs + TICK_MS, this.#clock.nowMs());
    this.#cancelTick();
    const waitMs = Math.max(0, this.#nextTickAtMs - this.#clock.nowMs());
    this.#cancelTick = this.#clock.after(waitMs, () => {
      this.#tick = this.#listen().finally(() => this.#tickLater());
    });
  }

  /** Reads all calls, then scores one window of each at a time until no call has a whole window left. */
  async #listen(): Promise<void> {
    const listeners = [...this.#listeners];
    for (const [, listener] of listeners) listener.read();
    let isMore = this.#vad !== null;
    while (isMore && !this.#isStopped) isMore = await this.#scoreWindows(listeners);

    const nowMs = this.#clock.nowMs();
    for (const [id, listener] of listeners) this.#emit(id, listener.noticeSilence(nowMs));
    this.#turns?.tick(nowMs);
  }

  async #scoreWindows(listeners: readonly (readonly [number, CallListener])[]): Promise<boolean> {
    const ready = listeners.flatMap(([id, listener]) => {
      const window = listener.takeWindow();
      return window === null ? [] : [{ id, listener, window }];
    });
    if (ready.length === 0) return false;
    const scores = (await this.#vad?.score(ready.map(({ window }) => window))) ?? [];
    ready.forEach(({ id, listener }, index) => {
      this.#emit(id, listener.score(scores[index] ?? 0));
    });
    return true;
  }

  #emit(id: number, event: VoiceEvent | null): void {
    if (event === null || !this.#listeners.has(id)) return;
    this.#turns?.received(id, event);
    this.#send({ kind: 'voice', listener: id, event });
  }
}
