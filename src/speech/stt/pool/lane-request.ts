/** What a recogniser's lane keeps of an utterance and of a request about it. */
import type { TranscriptionPriority } from '../../hearing/hearing.ts';
import type { Recognition } from './recognizer.ts';
import type { UtteranceAudio } from './word-groups.ts';

export interface UtteranceOptions {
  readonly language: string;
  /** Names that are likely to be said. */
  readonly prompt?: string;
}

/** One utterance's audio, as far as the lane has it. */
export interface LaneUtterance extends UtteranceOptions {
  readonly id: number;
  /** Whose it is: callers take turns. */
  readonly caller: object;
  readonly audio: UtteranceAudio;
  /** Samples that the present child has; -1 before it knows the utterance. */
  sent: number;
  isClosing: boolean;
}

/** What is asked. */
export interface RecognitionOrder {
  readonly priority: TranscriptionPriority;
  /** Who asked waits no longer than this; default: without end. */
  readonly timeoutMs?: number;
}

export interface LaneRequest extends RecognitionOrder {
  readonly id: number;
  readonly utterance: LaneUtterance;
  /** Audio beyond this came after the request. */
  readonly endSample: number;
  /** How many children were asked. */
  attempts: number;
  /** When the present child was asked, `Clock.nowMs()`. */
  startedAtMs: number;
  /** Nobody waits for the answer any more. */
  isGivenUp: boolean;
  /** Set by the lane that has it. */
  giveUp(reason: string): void;
  resolve(recognition: Recognition): void;
  reject(error: Error): void;
}

/** A request under way. */
export interface PendingRecognition {
  readonly answer: Promise<Recognition>;
  /** Gives it up: `answer` rejects with a `RecognitionError` now. */
  cancel(): void;
}

/** Takes the utterances of one call, and answers requests about them. */
export interface CallDesk {
  /** Begins an utterance. */
  open(options: UtteranceOptions): LaneUtterance;

  /** Adds audio: 8 kHz, mono, signed 16-bit. */
  append(utterance: LaneUtterance, pcm: Int16Array): void;

  /** Recognises what the utterance holds now. */
  request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition;

  /** Forgets the utterance, once what was asked about it is answered. */
  close(utterance: LaneUtterance): void;
}

/** An utterance on its way from one lane to another, with those who wait on it. */
export interface MovingUtterance {
  readonly utterance: LaneUtterance;
  readonly requests: readonly LaneRequest[];
}

/** Makes a request about what the utterance holds now. */
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
