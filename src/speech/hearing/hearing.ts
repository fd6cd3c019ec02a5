/** The port through which a conversation listens: voice activity and words of one call. */
import type { ReceiveRing } from '../../media/buffers/receive-ring.ts';

/** What is asked first is answered first within a priority: final before speculative before partial. */
export type TranscriptionPriority = 'final' | 'speculative' | 'partial';

export interface RecognizedWord {
  readonly text: string;
  /** From 0 to 1: the lowest of its tokens' probabilities. */
  readonly confidence: number;
  /** When it was said, from the start of the utterance's audio; absent where the recogniser cannot tell. */
  readonly startMs?: number;
  readonly endMs?: number;
}

/** What one stretch of speech says. */
export interface Utterance {
  /** Empty when there was no speech in it. */
  readonly text: string;
  readonly words: readonly RecognizedWord[];
  /** exp of the mean token log-probability, from 0 to 1. */
  readonly confidence: number;
  /** ISO 639-1, such as `en`. */
  readonly language: string;
  /** Chance that the audio holds no speech, from 0 to 1. */
  readonly noSpeechProbability: number;
  /** Leading words that the answer before this one had too: they are not going to change. Absent where nobody knows. */
  readonly agreedWords?: number;
  readonly audioMs: number;
  /** Time from the request to the answer, waiting included. */
  readonly tookMs: number;
}

/** Voice activity by the neural detector. Instants are `Clock.nowMs()`. */
export type VoiceEvent =
  | { readonly kind: 'voice-started'; readonly atMs: number }
  | {
      readonly kind: 'voice-stopped';
      readonly lastVoicedAtMs: number;
      /** Mean power of what was voice, in dB below full scale; absent where it was not measured. */
      readonly levelDbfs?: number;
    }
  /** What the turn model makes of the pause after `lastVoicedAtMs`: chance that the caller has finished, from 0 to 1. */
  | {
      readonly kind: 'turn-scored';
      readonly lastVoicedAtMs: number;
      readonly probability: number;
    };

/** The recogniser could not answer: every child is gone, or the wait was over. */
export class RecognitionError extends Error {
  override readonly name = 'RecognitionError';
}

/** One call's ear. */
export interface Ear {
  /** Sets the one listener of voice events. Silent when `Hearing.hasVoiceDetector` is false. */
  onVoice(listener: (event: VoiceEvent) => void): void;

  /** Starts keeping audio for recognition from `fromMs` (with 300 ms of what came before it). */
  beginUtterance(fromMs: number): void;

  /**
   * Recognises what was said since `beginUtterance`, up to now. May be asked again; the audio is kept.
   *
   * @throws {RecognitionError} when no recogniser could answer within `timeoutMs` (default 10,000).
   * @throws the signal's reason when aborted.
   */
  transcribe(request: {
    readonly priority: TranscriptionPriority;
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
  }): Promise<Utterance>;

  /** Forgets the utterance's audio. */
  endUtterance(): void;

  close(): void;
}

/** Which engine does a job, and why that one: shown at start and by `/readyz`. */
export interface EngineReport {
  readonly job: 'vad' | 'stt' | 'turn' | 'tts' | 'llm';
  readonly engine: string;
  /** Why this one, in plain English, such as `no Silero model in "./models/vad"`. */
  readonly reason: string;
  /** True when it stands in for a better one. */
  readonly isFallback: boolean;
  /** How it falls short of the job: also where it was asked for. Absent for an engine that does the job in full. */
  readonly standIn?: 'tiny_model' | 'no_model' | 'simple_voice' | 'second_choice';
  /** The engine that is set up and cannot be used, and what is wrong with it; absent where none is set up. */
  readonly replacement?: { readonly engine: string; readonly how: string };
}

/** Everything that listens: the detector's thread and the recogniser's child processes. */
export interface Hearing {
  /** Whether ears tell voice activity; when not, `AudioStream`'s own energy detector does. */
  readonly hasVoiceDetector: boolean;

  /** How far the turn model is to be believed, from 0 (there is none) to 1. */
  readonly turnTrust: number;

  /**
   * Asked again, it waits for the start that has begun.
   *
   * @throws {Error} naming the model file and the remedy when an engine that was asked for by name cannot load.
   */
  start(): Promise<void>;

  /** Stops threads and children politely, within 2 s. Safe to call twice. */
  stop(): Promise<void>;

  /** @param options.prompt names that are likely to be said, such as the agent's; at most 1000 characters count. */
  open(options: {
    readonly heard: ReceiveRing;
    readonly language: string;
    readonly prompt?: string;
  }): Ear;

  reports(): readonly EngineReport[];
}
