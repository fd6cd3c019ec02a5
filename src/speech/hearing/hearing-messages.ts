/** What the main thread and the hearing thread tell each other: per event, never per packet. */
import type { ReceiveRingBuffer } from '../../media/buffers/receive-ring.ts';
import type { LoadOutcome } from '../models/speech-engine.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';
import type { TranscriptionPriority, VoiceEvent } from './hearing.ts';

/** One job's engine, as the thread is told to try it. */
export interface EngineOrder {
  readonly moduleUrl: string;
  /** Models to try, best first. */
  readonly models: readonly string[];
  /** For models that another module opens, which one. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Threads of computing of each process; default 1. */
  readonly threads?: number | undefined;
}

/** What the thread is born with; null where nothing is to be tried. */
export interface HearingOrder {
  readonly detector: EngineOrder | null;
  readonly recognizer: EngineOrder | null;
  readonly turn?: EngineOrder | null;
  /** Recogniser processes. */
  readonly recognizers: number;
}

/** To the thread. Ears and requests are numbered by the main thread. */
export type ToThread =
  | {
      readonly kind: 'open';
      readonly ear: number;
      readonly heard: ReceiveRingBuffer;
      /** Position in the ring from which on this ear listens. */
      readonly position: number;
      readonly language: string;
      /** Names that are likely to be said. */
      readonly prompt?: string | undefined;
    }
  | { readonly kind: 'begin'; readonly ear: number; readonly fromMs: number }
  | {
      readonly kind: 'transcribe';
      readonly ear: number;
      readonly request: number;
      readonly priority: TranscriptionPriority;
      /** Who asked waits no longer. */
      readonly timeoutMs?: number;
    }
  | { readonly kind: 'cancel'; readonly request: number }
  | { readonly kind: 'end'; readonly ear: number }
  | { readonly kind: 'close'; readonly ear: number }
  | { readonly kind: 'stop' };

/** From the thread. */
export type FromThread =
  | {
      readonly kind: 'started';
      readonly detector: LoadOutcome;
      readonly recognizer: LoadOutcome;
      readonly turn: LoadOutcome;
    }
  | { readonly kind: 'voice'; readonly ear: number; readonly event: VoiceEvent }
  | {
      readonly kind: 'answer';
      readonly ear: number;
      readonly request: number;
      readonly recognition: Recognition;
    }
  | {
      readonly kind: 'failed';
      readonly ear: number;
      readonly request: number;
      readonly reason: string;
    }
  /** What became of the recogniser after the start. */
  | { readonly kind: 'recognizer'; readonly outcome: LoadOutcome }
  /** For the log. */
  | { readonly kind: 'note'; readonly fields: object; readonly message: string };
