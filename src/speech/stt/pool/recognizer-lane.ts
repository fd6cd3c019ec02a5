/** One recogniser process: the audio that it was sent, and the one request that it runs. */
import type { Clock } from '../../../lib/clock.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/model-files.ts';
import { forkModelChild, type ModelChild, ModelProcess, type Note } from './model-process.ts';
import type { OpenUtterance, RecognitionOrder } from './recognition-request.ts';
import type { FromChild, Recognition, ToChild } from './recognizer.ts';

/** A recogniser's child process. */
export type RecognizerProcess = ModelChild<ToChild, FromChild>;

/** Forks a recogniser; it loads nothing before the message `load`. */
export function forkRecognizer(): RecognizerProcess {
  return forkModelChild(new URL('./recognizer-child.ts', import.meta.url));
}

/** A request of the pool. */
export interface LaneRequest extends RecognitionOrder {
  readonly id: number;
  readonly utterance: OpenUtterance;
  /** Audio after this sample came after the request. */
  readonly endSample: number;
  /** Processes that were asked. */
  attempts: number;
  /** Cancelled; the answer is not needed. */
  isGivenUp: boolean;
  resolve(recognition: Recognition): void;
  reject(error: Error): void;
}

export interface LaneOptions extends Omit<EngineOrder, 'models'> {
  readonly fork: () => RecognizerProcess;
  readonly clock: Clock;
  readonly note: Note;
  /** Called when the process is ready, at the start and after each restart. */
  readonly onUp: () => void;
  /** Called with the child's answer to the running request, and the time it took. */
  readonly onAnswer: (request: LaneRequest, answer: FromChild, tookMs: number) => void;
  /** Called when the process has ended, with the request that it was running. */
  readonly onDown: (how: string, running: LaneRequest | null) => void;
}

/** Audio is sent ahead in pieces of 128 ms: few messages, and little audio left at the end. */
const SEND_SAMPLES = 1024;

/** A child that does not answer an abort for this long hangs. */
const ABORT_WAIT_MS = 10_000;

export class RecognizerLane {
  readonly #options: LaneOptions;
  readonly #process: ModelProcess<ToChild, FromChild>;
  /** Samples that the child has, by utterance. */
  readonly #sent = new Map<OpenUtterance, number>();
  #running: LaneRequest | null = null;
  #startedAtMs = 0;
  #cancelWatch: () => void = () => undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    const { fork, clock, note, moduleUrl, modules, threads, providers } = options;
    const loading = { moduleUrl, modules, threads, providers };
    this.#process = new ModelProcess({
      ...{ fork, clock, note, job: 'Recogniser', loading },
      onUp: options.onUp,
      onDown: (how) => this.#down(how),
      onMessage: (message) => this.#settle(message),
    });
  }

  /** Starts the process with the first usable model. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#process.start(models);
  }

  /** Ends the process. The running request is the pool's to reject. */
  stop(): Promise<void> {
    this.#running = null;
    this.#cancelWatch();
    return this.#process.stop();
  }

  get isUp(): boolean {
    return this.#process.isUp;
  }

  /** Whether a request would run at once. */
  get isFree(): boolean {
    return this.isUp && this.#running === null;
  }

  get running(): LaneRequest | null {
    return this.#running;
  }

  /** Sends the utterance's audio up to the sample `end`, once a piece is full. */
  sendAhead(utterance: OpenUtterance, end: number): void {
    if (end - (this.#sent.get(utterance) ?? 0) >= SEND_SAMPLES) this.#send(utterance, end);
  }

  /** Runs a request. The lane has to be free. */
  run(request: LaneRequest): void {
    const { id, utterance, priority } = request;
    this.#running = request;
    request.attempts += 1;
    this.#startedAtMs = this.#options.clock.nowMs();
    this.#send(utterance, request.endSample);
    const isFinal = priority !== 'partial';
    this.#process.send({ kind: 'transcribe', utterance: utterance.id, request: id, isFinal });
  }

  /** Ends the running request at the model's next step. */
  abort(): void {
    if (this.#running === null) return;
    this.#process.send({ kind: 'abort', request: this.#running.id });
    this.#cancelWatch();
    this.#cancelWatch = this.#options.clock.after(ABORT_WAIT_MS, () => this.#process.replace());
  }

  /** Drops an utterance in the child. */
  forget(utterance: OpenUtterance): void {
    if (this.#sent.delete(utterance)) {
      this.#process.send({ kind: 'close', utterance: utterance.id });
    }
  }

  #send(utterance: OpenUtterance, end: number): void {
    if (!this.isUp) return;
    const { id, language, prompt, audio } = utterance;
    const sent = this.#sent.get(utterance);
    if (sent === undefined) {
      const hint = prompt === undefined ? {} : { prompt };
      this.#process.send({ kind: 'open', utterance: id, language, ...hint });
    }
    const pcm = audio.slice(sent ?? 0, end);
    if (pcm.length > 0) this.#process.send({ kind: 'audio', utterance: id, pcm });
    this.#sent.set(utterance, (sent ?? 0) + pcm.length);
  }

  #settle(message: FromChild): void {
    const request = this.#running;
    if (request === null || message.request !== request.id) return;
    this.#running = null;
    this.#cancelWatch();
    this.#options.onAnswer(request, message, this.#options.clock.nowMs() - this.#startedAtMs);
  }

  #down(how: string): void {
    const running = this.#running;
    this.#running = null;
    this.#cancelWatch();
    this.#sent.clear();
    this.#options.onDown(how, running);
  }
}
