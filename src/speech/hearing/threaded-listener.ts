/** One call's ear on the main thread: passes on orders and events, never audio. */
import type { Clock } from '../../lib/clock.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';
import {
  type Ear,
  RecognitionError,
  type TranscriptionPriority,
  type Utterance,
  type VoiceEvent,
} from './hearing.ts';
import type { FromThread, ToThread } from './hearing-messages.ts';

const TIMEOUT_MS = 10_000;

type Answer = Extract<FromThread, { kind: 'answer' | 'failed' }>;

interface PendingRequest {
  readonly request: number;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: unknown) => void;
  readonly askedAtMs: number;
  /** Lets go of the timer and the signal. */
  readonly release: () => void;
}

export class ThreadedListener implements Ear {
  readonly #ear: number;
  readonly #clock: Clock;
  readonly #post: (message: ToThread) => void;
  readonly #nextRequest: () => number;
  readonly #onClose: () => void;
  readonly #pending = new Map<number, PendingRequest>();
  #voiceListener: (event: VoiceEvent) => void = () => undefined;
  #isClosed = false;

  constructor(options: {
    ear: number;
    clock: Clock;
    post: (message: ToThread) => void;
    /** Numbers requests, over all ears. */
    nextRequest: () => number;
    onClose: () => void;
  }) {
    this.#ear = options.ear;
    this.#clock = options.clock;
    this.#post = options.post;
    this.#nextRequest = options.nextRequest;
    this.#onClose = options.onClose;
  }

  onVoice(listener: (event: VoiceEvent) => void): void {
    this.#voiceListener = listener;
  }

  beginUtterance(fromMs: number): void {
    this.#post({ kind: 'begin', ear: this.#ear, fromMs });
  }

  transcribe(order: {
    readonly priority: TranscriptionPriority;
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
  }): Promise<Utterance> {
    const { priority, signal, timeoutMs = TIMEOUT_MS } = order;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.reject(failure('the ear is closed'));
    const request = this.#nextRequest();
    const { promise, resolve, reject } = Promise.withResolvers<Utterance>();
    const giveUp = (error: unknown) => this.#giveUp(request, error);
    const abort = () => giveUp(signal?.reason);
    const cancelTimer = this.#clock.after(timeoutMs, () =>
      giveUp(failure(`no answer within ${timeoutMs} ms`)),
    );
    signal?.addEventListener('abort', abort, { once: true });
    this.#pending.set(request, {
      request,
      resolve,
      reject,
      askedAtMs: this.#clock.nowMs(),
      release: () => {
        cancelTimer();
        signal?.removeEventListener('abort', abort);
      },
    });
    this.#post({ kind: 'transcribe', ear: this.#ear, request, priority, timeoutMs });
    return promise;
  }

  endUtterance(): void {
    this.#post({ kind: 'end', ear: this.#ear });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#post({ kind: 'close', ear: this.#ear });
    this.failAll('the ear is closed');
    this.#onClose();
  }

  /** For the hearing alone: a voice event has come from the thread. */
  tell(event: VoiceEvent): void {
    if (!this.#isClosed) this.#voiceListener(event);
  }

  /** For the hearing alone: an answer has come from the thread. Late ones find nobody. */
  settle(answer: Answer): void {
    const pending = this.#take(answer.request);
    if (pending === undefined) return;
    if (answer.kind === 'failed') {
      pending.reject(new RecognitionError(answer.reason));
      return;
    }
    const tookMs = this.#clock.nowMs() - pending.askedAtMs;
    pending.resolve(utteranceOf(answer.recognition, tookMs));
  }

  /** For the hearing alone: nobody will answer any more. */
  failAll(reason: string): void {
    for (const request of [...this.#pending.keys()]) this.#take(request)?.reject(failure(reason));
  }

  #giveUp(request: number, error: unknown): void {
    this.#take(request)?.reject(error);
    this.#post({ kind: 'cancel', request });
  }

  #take(request: number): PendingRequest | undefined {
    const pending = this.#pending.get(request);
    this.#pending.delete(request);
    pending?.release();
    return pending;
  }
}

function utteranceOf(recognition: Recognition, tookMs: number): Utterance {
  return { ...recognition, tookMs };
}

function failure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}
