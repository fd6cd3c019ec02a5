/** What a recogniser's lane keeps of an utterance and of a request about it. */
import type { TranscriptionPriority } from './hearing.ts';
import type { Recognition } from './recognizer.ts';
import type { UtteranceAudio } from './utterance-audio.ts';

/** One utterance's audio, as far as the lane has it. */
export interface LaneUtterance {
  readonly id: number;
  readonly language: string;
  readonly audio: UtteranceAudio;
  /** Samples that the present child has; -1 before it knows the utterance. */
  sent: number;
  isClosing: boolean;
}

/** What is asked. */
export interface RecognitionOrder {
  readonly priority: TranscriptionPriority;
}

export interface LaneRequest extends RecognitionOrder {
  readonly id: number;
  readonly utterance: LaneUtterance;
  /** Audio beyond this came after the request. */
  readonly endSample: number;
  /** How many children were asked. */
  attempts: number;
  /** Nobody waits for the answer any more. */
  isGivenUp: boolean;
  resolve(recognition: Recognition): void;
  reject(error: Error): void;
}

/** A request under way. */
export interface PendingRecognition {
  readonly answer: Promise<Recognition>;
  /** Gives it up: `answer` rejects with a `RecognitionError` now. */
  cancel(): void;
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
    utterance,
    priority: order.priority,
    endSample: utterance.audio.length,
    attempts: 0,
    isGivenUp: false,
    resolve,
    reject,
  };
  return { request, answer: promise };
}
