/** The port of a recogniser on the network, and what the module of its engine exports. */
import type { SpeechServer } from '../../network/speech-servers.ts';
import { Upsampler } from '../features/resampler.ts';
import type { Recognition } from '../pool/recognizer.ts';

export interface RecognitionRequest {
  /** 8 kHz, mono, signed 16-bit. */
  readonly pcm: Int16Array;
  /** ISO 639-1 or BCP 47. */
  readonly language: string;
  /** Names that are likely to be said. */
  readonly prompt?: string;
  readonly signal: AbortSignal;
}

export interface RecognitionServer extends SpeechServer {
  /** Whether it recognises the language, as the newest probe found; absent where servers do not tell. */
  hears?(language: string): boolean;

  /**
   * Recognises an utterance.
   *
   * @throws {Error} naming the fault.
   * @throws the signal's reason when aborted.
   */
  recognize(request: RecognitionRequest): Promise<Recognition>;
}

export interface RecognitionServerOptions {
  /** Default: the protocol's own. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Exports of an engine's module. */
export interface RecognitionServerModule {
  openRecognitionServer(address: string, options: RecognitionServerOptions): RecognitionServer;
}

/** The servers of one engine, as the hearing thread gets them. */
export interface RecognitionServersOrder {
  readonly moduleUrl: string;
  readonly addresses: readonly string[];
  readonly options: RecognitionServerOptions;
  /** Longest wait for an answer before the local engine takes over. */
  readonly answerMs: number;
}

/** A second of silence, for probes: 8 kHz, mono, signed 16-bit. */
export const PROBE_PCM = new Int16Array(8000);

/** What every server takes without resampling. */
export const WIDEBAND_HZ = 16_000;

/** @param pcm 8 kHz, mono, signed 16-bit. @returns the same at 16 kHz. */
export function wideband(pcm: Int16Array): Int16Array<ArrayBuffer> {
  return Int16Array.from(new Upsampler().push(pcm), (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))),
  );
}
