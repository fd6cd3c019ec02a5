/** Recognition requests: an utterance's audio, a request about it, and the queue in front of a recogniser process. */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { RecognitionError, type TranscriptionPriority } from '../../hearing/hearing.ts';
import type { Recognition } from './recognizer.ts';

export interface UtteranceOptions {
  /** ISO 639-1 or BCP 47. */
  readonly language: string;
  /** Names that are likely to be said. */
  readonly prompt?: string;
}

/** One utterance as a lane has it. */
export interface LaneUtterance extends UtteranceOptions {
  readonly id: number;
  /** Identity of the call, for taking turns. */
  readonly caller: object;
  readonly audio: UtteranceAudio;
  /** Samples that the present child has; -1 before it knows the utterance. */
  sent: number;
  isClosing: boolean;
}

export interface RecognitionOrder {
  readonly priority: TranscriptionPriority;
  /** Time limit of the caller of `request`; default: none. */
  readonly timeoutMs?: number;
}

export interface LaneRequest extends RecognitionOrder {
  readonly id: number;
  readonly utterance: LaneUtterance;
  /** Audio after this sample came after the request. */
  readonly endSample: number;
  /** Children that were asked. */
  attempts: number;
  /** When the present child was asked, `Clock.nowMs()`. */
  startedAtMs: number;
  /** Cancelled; the answer is not needed. */
  isGivenUp: boolean;
  /** Cancels it; set by the lane that holds it. */
  giveUp(reason: string): void;
  resolve(recognition: Recognition): void;
  reject(error: Error): void;
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
  open(options: UtteranceOptions): LaneUtterance;

  /** Adds audio: 8 kHz, mono, signed 16-bit. */
  append(utterance: LaneUtterance, pcm: Int16Array): void;

  /** Recognises the audio that the utterance holds now. */
  request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition;

  /** Drops the utterance once its requests are answered. */
  close(utterance: LaneUtterance): void;
}

/** An utterance on its way from one lane to another, with its waiting requests. */
export interface MovingUtterance {
  readonly utterance: LaneUtterance;
  readonly requests: readonly LaneRequest[];
}

/** Makes a request about the audio that the utterance holds now. */
export function newRequest(
  id: number,
  utterance: LaneUtterance,
  order: RecognitionOrder,
): { readonly request: LaneRequest; readonly answer: Promise<Recognition> } {
  const { promise, resolve, reject } = Promise.withResolvers<Recognition>();
  const request = {
    id,
    priority: order.priority,
    utterance,
    endSample: utterance.audio.length,
    attempts: 0,
    startedAtMs: 0,
    isGivenUp: false,
    giveUp: () => undefined,
    resolve,
    reject,
  };
  return { request, answer: promise };
}

/** The error of a request without an answer. */
export function laneFailure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}

const RANKS: Readonly<Record<TranscriptionPriority, number>> = {
  final: 0,
  speculative: 1,
  partial: 2,
};

/** What the queue reads of a request. */
export interface QueuedRequest {
  readonly priority: TranscriptionPriority;
  readonly utterance: { readonly id: number; readonly caller: object };
}

/** Requests that wait for one child: final before speculative before partial; within a priority, callers take turns. */
export class RequestQueue<Request extends QueuedRequest> {
  #requests: readonly Request[] = [];
  readonly #turns: CallerTurns;

  constructor(turns = new CallerTurns()) {
    this.#turns = turns;
  }

  get length(): number {
    return this.#requests.length;
  }

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
    this.#turns.giveBack(request.utterance.caller);
  }

  /** The next request; it stays in the queue. */
  peek(isWanted: (request: Request) => boolean = () => true): Request | undefined {
    return this.#requests
      .filter(isWanted)
      .reduce<Request | undefined>(
        (first, request) =>
          first === undefined || this.#isBefore(request, first) ? request : first,
        undefined,
      );
  }

  /** Takes the next request: of the highest priority, that of the caller who was served longest ago. */
  take(): Request | undefined {
    const next = this.peek();
    if (next === undefined) return undefined;
    this.remove(next);
    this.#turns.took(next.utterance.caller);
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

  #isBefore(request: Request, other: Request): boolean {
    const ranks = RANKS[request.priority] - RANKS[other.priority];
    if (ranks !== 0) return ranks < 0;
    const turnOf = ({ utterance }: Request) => this.#turns.lastOf(utterance.caller);
    return turnOf(request) < turnOf(other);
  }
}

/** The order in which callers were served last, over all queues of one machine. */
export class CallerTurns {
  readonly #turns = new WeakMap<object, number>();
  #newest = 0;

  /** Number of the caller's last turn; 0 before the first. */
  lastOf(caller: object): number {
    return this.#turns.get(caller) ?? 0;
  }

  took(caller: object): void {
    this.#newest += 1;
    this.#turns.set(caller, this.#newest);
  }

  /** Undoes a turn without an answer: the caller is next. */
  giveBack(caller: object): void {
    this.#turns.delete(caller);
  }
}

/** Weight of the newest answer: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

/** Typical answer time over all recogniser processes of one machine: a request that would be late is refused at once. */
export class AnswerPace {
  #typicalMs = 0;

  /** Running mean; 0 before the first answer. */
  get typicalMs(): number {
    return this.#typicalMs;
  }

  answered(tookMs: number): void {
    const weight = this.#typicalMs === 0 ? 1 : NEWEST_WEIGHT;
    this.#typicalMs += (tookMs - this.#typicalMs) * weight;
  }

  /** Whether an answer is likely within `timeoutMs` behind `waiting` others; true before the first answer. */
  isInTime(waiting: number, timeoutMs: number): boolean {
    return (waiting + 1) * this.#typicalMs <= timeoutMs;
  }
}

/** As long as Whisper's window; later audio is left out. */
const SAMPLES_MAX = 30 * LINE_RATE_HZ;

/** The audio of one utterance, kept to be sent again to the next child: 8 kHz, mono, signed 16-bit. */
export class UtteranceAudio {
  #samples = new Int16Array(LINE_RATE_HZ);
  #length = 0;

  /** In samples. */
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
