/** What a recogniser's lane is made with, and how it says no. */
import type { Clock } from '../../../lib/clock.ts';
import type { AnswerPace, CallerTurns } from '../../hearing/call-listener.ts';
import { RecognitionError } from '../../hearing/hearing.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { RecognizerProcess } from './recognizer-process.ts';

/** Writes a line to the log. Never with callers' words. */
export type Note = (fields: object, message: string) => void;

export interface RecognizerLaneOptions extends Omit<EngineOrder, 'models'> {
  readonly fork: () => RecognizerProcess;
  readonly clock: Clock;
  readonly note: Note;
  /** Shared by lanes that utterances move between, as the numbers are. */
  readonly pace?: AnswerPace;
  readonly turns?: CallerTurns;
  readonly nextId?: () => number;
  /** Rings when the process has become free, or is gone. */
  readonly onChange?: () => void;
}

/** The error of a request that gets no answer. */
export function laneFailure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}
