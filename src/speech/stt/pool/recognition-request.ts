/** Recognition requests: an utterance's audio, a request about it, and the queue in front of the recogniser processes. */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { RecognitionError, type TranscriptionPriority } from '../../hearing/hearing.ts';
import type { Recognition } from './recognizer.ts';

export interface UtteranceOptions {
  /** ISO 639-1 or BCP 47. */
  readonly language: string;
  /** Names that are likely to be said. */
  readonly prompt?: string;
}

/** One utterance of a call. */
export interface OpenUtterance extends UtteranceOptions {
  readonly id: number;
  /** Identity of the call, for taking turns. */
  readonly caller: object;
  readonly audio: UtteranceAudio;
}

export interface RecognitionOrder {
  readonly priority: TranscriptionPriority;
  /** Time limit of the caller of `request`; default: none. */
  readonly timeoutMs?: number;
}

/** A request under way. */
export interface PendingRecognition {
  /** @throws {RecognitionError} */
  readonly answer: Promise<Recognition>;
  /** Rejects `answer` with a `RecognitionError` at once. */
  cancel(): void;
}

/** The recogniser pool as one call uses it. */
export interface CallRecognizer {
  /** Begins an utterance. */
  open(options: UtteranceOptions): OpenUtterance;

  /** Adds audio: 8 kHz, mono, signed 16-bit. */
  append(utterance: OpenUtterance, pcm: Int16Array): void;

  /** Recognises the audio that the utterance holds now. */
  request(utterance: OpenUtterance, order: RecognitionOrder): PendingRecognition;

  /** Drops the utterance once its requests are answered. */
  close(utterance: OpenUtterance): void;
}

/** The error of a request without an answer. */
export function recognitionFailure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}

const RANKS: Readonly<Record<TranscriptionPriority, number>> = {
  final: 0,
  speculative: 1,
  partial: 2,
};

/** Fields of a request that the queue reads. */
export interface QueuedRequest {
  readonly priority: TranscriptionPriority;
  readonly utterance: { readonly id: number; readonly caller: object };
}

/** Waiting requests: final before speculative before partial; within a priority, callers take turns. */
export class RequestQueue<Request extends QueuedRequest> {
  #requests: readonly Request[] = [];
  /** Number of each caller's last turn; none before the first. */
  readonly #turns = new WeakMap<object, number>();
  #newestTurn = 0;

  /**
   * Adds a request.
   *
   * @returns partial requests of the same utterance, which the new one replaces; they have left the queue.
   */
  add(request: Request): readonly Request[] {
    const isStale = (other: Request) =>
      other.priority === 'partial' && other.utterance.id === request.utterance.id;
    const stale = this.#requests.filter(isStale);
    this.#requests = [...this.#requests.filter((other) => !isStale(other)), request];
    return stale;
  }

  /** Puts a taken request back, before others of its priority. */
  putBack(request: Request): void {
    this.#requests = [request, ...this.#requests];
    this.#turns.delete(request.utterance.caller);
  }

  /** Takes the next ready request: by priority, then by the caller who was served longest ago. */
  take(isReady: (request: Request) => boolean = () => true): Request | undefined {
    const [next] = this.#requests.filter(isReady).toSorted((a, b) => this.#compare(a, b));
    if (next === undefined) return undefined;
    this.remove(next);
    this.#newestTurn += 1;
    this.#turns.set(next.utterance.caller, this.#newestTurn);
    return next;
  }

  /** @returns false when the request is not in the queue. */
  remove(request: Request): boolean {
    const before = this.#requests.length;
    this.#requests = this.#requests.filter((other) => other !== request);
    return this.#requests.length < before;
  }

  /** The waiting requests of one utterance. */
  of(utteranceId: number): readonly Request[] {
    return this.#requests.filter(({ utterance }) => utterance.id === utteranceId);
  }

  /** Number of requests of this priority or a higher one. */
  countBefore(priority: TranscriptionPriority): number {
    return this.#requests.filter((other) => RANKS[other.priority] <= RANKS[priority]).length;
  }

  /** Empties the queue. */
  clear(): readonly Request[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  #compare(a: Request, b: Request): number {
    const turnOf = ({ utterance }: Request) => this.#turns.get(utterance.caller) ?? 0;
    return RANKS[a.priority] - RANKS[b.priority] || turnOf(a) - turnOf(b);
  }
}

/** Length of Whisper's window; later audio is left out. */
const SAMPLES_MAX = 30 * LINE_RATE_HZ;

/** The audio of one utterance, kept to be sent again to the next child: 8 kHz, mono, signed 16-bit. */
export class UtteranceAudio {
  #samples = new Int16Array(LINE_RATE_HZ);
  #length = 0;

  /** Length of the audio, in samples. */
  get length(): number {
    return this.#length;
  }

  append(pcm: Int16Array): void {
    const taken = pcm.subarray(0, SAMPLES_MAX - this.#length);
    this.#reserve(this.#length + taken.length);
    this.#samples.set(taken, this.#length);
    this.#length += taken.length;
  }

  /** Copies the samples from `start` up to `end`. */
  slice(start: number, end: number): Int16Array {
    return this.#samples.slice(start, Math.min(end, this.#length));
  }

  #reserve(length: number): void {
    if (length <= this.#samples.length) return;
    const grown = new Int16Array(Math.min(SAMPLES_MAX, Math.max(length, 2 * this.#samples.length)));
    grown.set(this.#samples.subarray(0, this.#length));
    this.#samples = grown;
  }
}
