/** One call's listener on the main thread: passes orders to the hearing thread and events from it, never audio. */
import type { Clock } from '../../lib/clock.ts';
import {
  RecognitionError,
  type SpeechListener,
  type TranscriptionPriority,
  type Utterance,
  type VoiceEvent,
} from './hearing.ts';
import type { FromThread, ToThread } from './hearing-messages.ts';

/** Default time limit of a transcription. */
const TRANSCRIPTION_MS_MAX = 10_000;

type Answer = Extract<FromThread, { kind: 'answer' | 'failed' }>;

interface PendingRequest {
  readonly request: number;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: unknown) => void;
  readonly askedAtMs: number;
  /** Cancels the timer and leaves the signal. */
  readonly release: () => void;
}

/** One call's listener on the main thread. */
export class ThreadedListener implements SpeechListener {
  readonly #id: number;
  readonly #clock: Clock;
  readonly #post: (message: ToThread) => void;
  readonly #nextRequest: () => number;
  readonly #onClose: () => void;
  readonly #onTimed: (tookMs: number | null) => void;
  readonly #pending = new Map<number, PendingRequest>();
  #voiceListener: (event: VoiceEvent) => void = () => undefined;
  #isClosed = false;

  constructor(options: {
    id: number;
    clock: Clock;
    post: (message: ToThread) => void;
    /** Numbers requests over all listeners. */
    nextRequest: () => number;
    onClose: () => void;
    /** Receives the time of each final and speculative request; null where it failed. */
    onTimed: (tookMs: number | null) => void;
  }) {
    this.#id = options.id;
    this.#clock = options.clock;
    this.#post = options.post;
    this.#nextRequest = options.nextRequest;
    this.#onClose = options.onClose;
    this.#onTimed = options.onTimed;
  }

  onVoice(listener: (event: VoiceEvent) => void): void {
    this.#voiceListener = listener;
  }

  beginUtterance(fromMs: number): void {
    this.#post({ kind: 'begin', listener: this.#id, fromMs });
  }

  transcribe(order: {
    readonly priority: TranscriptionPriority;
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
  }): Promise<Utterance> {
    const { priority, signal, timeoutMs = TRANSCRIPTION_MS_MAX } = order;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.reject(failure('the listener is closed'));
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
    this.#post({ kind: 'transcribe', listener: this.#id, request, priority, timeoutMs });
    if (priority !== 'partial') {
      promise.then(
        ({ tookMs }) => this.#onTimed(tookMs),
        () => signal?.aborted !== true && this.#onTimed(null),
      );
    }
    return promise;
  }

  endUtterance(): void {
    this.#post({ kind: 'end', listener: this.#id });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#post({ kind: 'close', listener: this.#id });
    this.failAll('the listener is closed');
    this.#onClose();
  }

  /** Passes on a voice event of the thread. */
  emit(event: VoiceEvent): void {
    if (!this.#isClosed) this.#voiceListener(event);
  }

  /** Settles a request with the thread's answer; late answers are dropped. */
  settle(answer: Answer): void {
    const pending = this.#take(answer.request);
    if (pending === undefined) return;
    if (answer.kind === 'failed') {
      pending.reject(new RecognitionError(answer.reason));
      return;
    }
    const tookMs = this.#clock.nowMs() - pending.askedAtMs;
    pending.resolve({ ...answer.recognition, tookMs });
  }

  /** Rejects all pending requests. */
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

function failure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}
