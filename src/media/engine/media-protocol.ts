/** What the main thread and a media worker say to each other: per event, never per packet. */
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import type { AudioEvent, AudioStats } from '../audio-stream.ts';
import type { ReceiveRingBuffer } from '../buffers/receive-ring.ts';
import type { SpeechRingBuffer } from '../buffers/speech-ring.ts';
import type { LevelMeterBuffer } from '../dsp/level-meter.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';
import type { AlarmMemory } from '../worker/pacer.ts';

/** What holds for all workers. */
export interface WorkerSettings {
  /** How long a closed session's ports stay bound and are emptied. */
  readonly drainMs: number;
  /** Whether the worker asks the system for real-time priority. */
  readonly isRealTime: boolean;
}

/** Given to a worker at its start. */
export interface WorkerStart extends WorkerSettings {
  /** Wakes the worker for what is urgent. */
  readonly alarm: AlarmMemory;
  /** Brings what is said. */
  readonly speech: SpeechRingBuffer;
}

/** A session is known by a number that is never used again. */
export type ToWorker =
  | {
      readonly kind: 'open';
      readonly sessionId: number;
      readonly address: string;
      readonly port: number;
      readonly trusted: TrustedHosts;
      readonly heard: ReceiveRingBuffer;
      readonly meter: LevelMeterBuffer;
    }
  | { readonly kind: 'remote'; readonly sessionId: number; readonly agreed: AgreedMedia }
  | {
      readonly kind: 'begin' | 'finish' | 'drop' | 'resume';
      readonly sessionId: number;
      readonly generation: number;
    }
  | {
      readonly kind: 'say';
      readonly sessionId: number;
      readonly generation: number;
      /** So many samples of the speech ring, or, where that had no room, the samples; transferred: the sender has them no more. */
      readonly speech: number | Int16Array;
    }
  | {
      readonly kind: 'interruptible';
      readonly sessionId: number;
      readonly isInterruptible: boolean;
    }
  | { readonly kind: 'digits'; readonly sessionId: number; readonly digits: string }
  | {
      readonly kind: 'record';
      readonly sessionId: number;
      readonly path: string;
      /** Where the recording begins, `Clock.nowMs()`. */
      readonly atMs: number;
    }
  /** Plays the sound over and over where there is nothing else to say. */
  | {
      readonly kind: 'background';
      readonly sessionId: number;
      readonly pcm: Int16Array | undefined;
    }
  /** Sends on what another session hears; from none when `source` is not given. */
  | { readonly kind: 'feed'; readonly sessionId: number; readonly source: number | undefined }
  /** Mixes two sessions and their agents; no more when `other` is not given. */
  | { readonly kind: 'mix'; readonly sessionId: number; readonly other: number | undefined }
  | { readonly kind: 'stats'; readonly sessionId: number; readonly request: number }
  /** What is played goes into the ring as well; with null, no more. */
  | { readonly kind: 'tap'; readonly sessionId: number; readonly played: ReceiveRingBuffer | null }
  | { readonly kind: 'close'; readonly sessionId: number }
  /** Free the ports of a closed session now, if nothing arrives on them. */
  | { readonly kind: 'reclaim'; readonly sessionId: number }
  /** Close everything and exit. */
  | { readonly kind: 'stop' };

export type FromWorker =
  /** `priority` says in plain English what the thread runs with. */
  | { readonly kind: 'ready'; readonly priority: string; readonly sockets: SocketsReport }
  | { readonly kind: 'opened'; readonly sessionId: number }
  | {
      readonly kind: 'refused';
      readonly sessionId: number;
      /** Of the system, such as EADDRINUSE. */
      readonly code: string;
      readonly reason: string;
    }
  | { readonly kind: 'event'; readonly sessionId: number; readonly event: AudioEvent }
  | {
      readonly kind: 'stats';
      readonly sessionId: number;
      readonly request: number;
      readonly stats: AudioStats;
    }
  /** A reply was longer than is kept ahead; the rest of it will not be heard. */
  | { readonly kind: 'overflow'; readonly sessionId: number; readonly generation: number }
  /** A fault of ours; the session has been closed by it. */
  | { readonly kind: 'fault'; readonly sessionId: number; readonly reason: string }
  /** The recording is whole. */
  | { readonly kind: 'closed'; readonly sessionId: number }
  /** A reclaimed session's ports still hear something. */
  | { readonly kind: 'kept'; readonly sessionId: number }
  /** The ports may be used again. */
  | { readonly kind: 'drained'; readonly sessionId: number };
