/** Messages between the main thread and the hearing thread: one per event, never one per packet. */

import type { Provider } from '../../lib/onnx/onnx-providers.ts';
import type { ReceiveRingBuffer } from '../../media/sound-rings.ts';
import type { LoadOutcome } from '../models/model-files.ts';
import type { ServerState } from '../network/speech-servers.ts';
import type { RecognitionServersOrder } from '../stt/network/recognition-server.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';
import type { TranscriptionPriority, VoiceEvent } from './hearing.ts';

/** An engine for one job, with the models to try. */
export interface EngineOrder {
  readonly moduleUrl: string;
  /** Paths, best first. */
  readonly models: readonly string[];
  /** Module that opens a model, by model, where it is not `moduleUrl`. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Threads of each process's model runtime; default 1. */
  readonly threads?: number | undefined;
  /** ONNX Runtime's execution providers, best first; default: the CPU. */
  readonly providers?: readonly Provider[] | undefined;
}

/** The thread's start data; null for a job without an engine. */
export interface HearingOrder {
  readonly detector: EngineOrder | null;
  readonly recognizer: EngineOrder | null;
  readonly turn?: EngineOrder | null;
  /** Number of recogniser processes. */
  readonly recognizers: number;
  /** Servers that recognise before the processes do. */
  readonly servers?: RecognitionServersOrder | undefined;
}

/** To the thread. The main thread numbers listeners and requests. */
export type ToThread =
  | {
      readonly kind: 'open';
      readonly listener: number;
      readonly ring: ReceiveRingBuffer;
      /** First position in the ring to read. */
      readonly position: number;
      readonly language: string;
      /** Names that are likely to be said. */
      readonly prompt?: string | undefined;
    }
  | { readonly kind: 'begin'; readonly listener: number; readonly fromMs: number }
  | {
      readonly kind: 'transcribe';
      readonly listener: number;
      readonly request: number;
      readonly priority: TranscriptionPriority;
      /** Time limit of the requester. */
      readonly timeoutMs?: number;
    }
  | { readonly kind: 'cancel'; readonly request: number }
  | { readonly kind: 'end'; readonly listener: number }
  | { readonly kind: 'close'; readonly listener: number }
  | { readonly kind: 'stop' };

/** From the thread. */
export type FromThread =
  | {
      readonly kind: 'started';
      readonly detector: LoadOutcome;
      readonly recognizer: LoadOutcome;
      readonly turn: LoadOutcome;
    }
  | { readonly kind: 'voice'; readonly listener: number; readonly event: VoiceEvent }
  | {
      readonly kind: 'answer';
      readonly listener: number;
      readonly request: number;
      readonly recognition: Recognition;
    }
  | {
      readonly kind: 'failed';
      readonly listener: number;
      readonly request: number;
      readonly reason: string;
    }
  /** A change of the recognisers after the start. */
  | { readonly kind: 'recognizer'; readonly outcome: LoadOutcome }
  /** A change of the recognition servers. */
  | { readonly kind: 'servers'; readonly states: readonly ServerState[] }
  /** A request to a recognition server; `tookMs` is null where it failed. */
  | { readonly kind: 'server-request'; readonly address: string; readonly tookMs: number | null }
  /** A request that the local engine took over from the servers. */
  | { readonly kind: 'server-fallback' }
  /** A log line. */
  | { readonly kind: 'note'; readonly fields: object; readonly message: string };
