/** The speech recognition port: voice activity events and transcripts of one call, interim results included. */
import type { ModelTimes, SpeechServerCounts } from '../../lib/metrics/model-metrics.ts';
import type { ReceiveRing } from '../../media/sound-rings.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';

/** Final requests go before speculative ones, and these before partial ones (interim results). */
export type TranscriptionPriority = 'final' | 'speculative' | 'partial';

/** The transcript of one stretch of speech. */
export interface Utterance extends Recognition {
  /** Time from the request to the answer, waiting included. */
  readonly tookMs: number;
}

/** Voice activity by the neural VAD. Instants are `Clock.nowMs()`. */
export type VoiceEvent =
  | { readonly kind: 'voice-started'; readonly atMs: number }
  | {
      readonly kind: 'voice-stopped';
      readonly lastVoicedAtMs: number;
      /** Mean power of the voiced audio, in dBFS; absent where it was not measured. */
      readonly levelDbfs?: number;
    }
  /** All voice since then was the talk of people around the caller; it is over. */
  | { readonly kind: 'background-talk'; readonly sinceMs: number }
  /** The turn model's score of the pause after `lastVoicedAtMs`: chance that the caller has finished, from 0 to 1. */
  | {
      readonly kind: 'turn-scored';
      readonly lastVoicedAtMs: number;
      readonly probability: number;
    };

/** The recogniser could not answer: no child is ready, or the time limit has passed. */
export class RecognitionError extends Error {
  override readonly name = 'RecognitionError';
}

/** Listens to the caller of one call. */
export interface SpeechListener {
  /** Sets the one listener of voice events. Silent when `Hearing.hasVoiceDetector` is false. */
  onVoice(listener: (event: VoiceEvent) => void): void;

  /** Keeps audio for recognition from 300 ms before `fromMs` on. */
  beginUtterance(fromMs: number): void;

  /**
   * Recognises the audio since `beginUtterance`. May be called again; the audio is kept.
   *
   * @throws {RecognitionError} when no recogniser could answer within `timeoutMs` (default 10,000).
   * @throws the signal's reason when aborted.
   */
  transcribe(request: {
    readonly priority: TranscriptionPriority;
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
  }): Promise<Utterance>;

  /** Drops the utterance's audio. */
  endUtterance(): void;

  close(): void;
}

/** The engine of a job and the reason for its choice: shown at the start and by `/readyz`. */
export interface EngineReport {
  readonly job: 'vad' | 'stt' | 'turn' | 'tts' | 'llm';
  readonly engine: string;
  /** Reason for the choice, such as `no Silero model in "./models/vad"`. */
  readonly reason: string;
  /** True when it stands in for a better one. */
  readonly isFallback: boolean;
  /** Shortcoming of the engine, also where it was set by name. Absent for an engine that does the job in full. */
  readonly standIn?: 'tiny_model' | 'no_model' | 'simple_voice' | 'second_choice';
  /** The configured engine that cannot be used, and its fault; absent where none is configured. */
  readonly replacement?: { readonly engine: string; readonly how: string };
}

export interface MeasuredRecognition {
  /** Times of final and speculative requests; interim results run only on idle recognisers, so theirs do not show the load. */
  readonly times: ModelTimes;
  readonly servers: SpeechServerCounts;
}

/** All listening of the server: the VAD's thread and the recognisers' child processes. */
export interface Hearing {
  /** Whether listeners report voice activity; otherwise `AudioStream`'s energy detector does. */
  readonly hasVoiceDetector: boolean;

  /** Weight of the turn model's scores, from 0 (no model) to 1. */
  readonly turnTrust: number;

  /**
   * Starts threads and children. A second call waits for the first.
   *
   * @throws {Error} naming the model file and the remedy when an engine set by name cannot load.
   */
  start(): Promise<void>;

  /** Stops threads and children politely, within 2 s. Safe to call twice. */
  stop(): Promise<void>;

  /** @param options.prompt names that are likely to be said, such as the agent's; at most 1000 characters count. */
  open(options: {
    /** The caller's audio. */
    readonly ring: ReceiveRing;
    readonly language: string;
    readonly prompt?: string;
  }): SpeechListener;

  reports(): readonly EngineReport[];

  /** Sets the only receiver of recognition times and server counts; absent without measurements. */
  measure?(receivers: MeasuredRecognition): void;
}
