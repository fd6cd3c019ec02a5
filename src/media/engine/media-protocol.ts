/** Messages between the main thread and a media worker: per event, never per packet. */
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import type { AudioEvent, AudioStats } from '../audio-stream.ts';
import type { ReceiveRingBuffer } from '../buffers/receive-ring.ts';
import type { SpeechRingBuffer } from '../buffers/speech-ring.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';

/** Settings of all workers. */
export interface WorkerSettings {
  /** Time that a closed session's ports stay bound, in milliseconds. */
  readonly drainMs: number;
  /** Whether the worker asks the system for real-time priority. */
  readonly isRealTime: boolean;
}

/** A worker's start data. */
export interface WorkerStart extends WorkerSettings {
  /** Carries speech to the worker. */
  readonly speech: SpeechRingBuffer;
}

/** Requests to a worker. A session's number is never used again. */
export type ToWorker =
  | {
      readonly kind: 'open';
      readonly sessionId: number;
      readonly address: string;
      readonly port: number;
      readonly trusted: TrustedHosts;
      readonly heard: ReceiveRingBuffer;
      readonly meter: SharedArrayBuffer;
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
      /** Number of samples in the speech ring; the samples themselves, transferred, where the ring had no room. */
      readonly speech: number | Int16Array;
    }
  | {
      readonly kind: 'pause-after';
      readonly sessionId: number;
      /** Milliseconds; null: playout does not pause. */
      readonly voiceMs: number | null;
    }
  | { readonly kind: 'private'; readonly sessionId: number; readonly isPrivate: boolean }
  | { readonly kind: 'digits'; readonly sessionId: number; readonly digits: string }
  | {
      readonly kind: 'record';
      readonly sessionId: number;
      readonly path: string;
      /** Beginning of the recording, `Clock.nowMs()`. */
      readonly atMs: number;
    }
  /** Loops a sound in place of silence. */
  | {
      readonly kind: 'background';
      readonly sessionId: number;
      readonly pcm: Int16Array | undefined;
    }
  /** Forwards another session's received audio; undefined ends it. */
  | { readonly kind: 'feed'; readonly sessionId: number; readonly source: number | undefined }
  /** Mixes two sessions and their agents; undefined ends it. */
  | { readonly kind: 'mix'; readonly sessionId: number; readonly other: number | undefined }
  | { readonly kind: 'stats'; readonly sessionId: number; readonly request: number }
  /** Copies played sound into the ring; null ends it. */
  | { readonly kind: 'tap'; readonly sessionId: number; readonly played: ReceiveRingBuffer | null }
  | { readonly kind: 'close'; readonly sessionId: number }
  /** Frees the ports of a closed session early, if nothing arrives on them. */
  | { readonly kind: 'reclaim'; readonly sessionId: number }
  /** Closes all sessions and ends the thread. */
  | { readonly kind: 'stop' };

/** Answers and events of a worker. */
export type FromWorker =
  /** `priority` describes the thread's scheduling in plain English. */
  | { readonly kind: 'ready'; readonly priority: string; readonly sockets: SocketsReport }
  | { readonly kind: 'opened'; readonly sessionId: number }
  | {
      readonly kind: 'refused';
      readonly sessionId: number;
      /** The system's error code, such as EADDRINUSE. */
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
  /** A reply was longer than the playout queue; its end is dropped. */
  | { readonly kind: 'overflow'; readonly sessionId: number; readonly generation: number }
  /** An exception; it closed the session. */
  | { readonly kind: 'fault'; readonly sessionId: number; readonly reason: string }
  /** The session is closed and its recording complete. */
  | { readonly kind: 'closed'; readonly sessionId: number }
  /** The ports that `reclaim` asked for still receive packets. */
  | { readonly kind: 'kept'; readonly sessionId: number }
  /** The ports are free. */
  | { readonly kind: 'drained'; readonly sessionId: number };
