/** The port of a voice server on the network. */
import type { SpeechServer } from '../../network/speech-servers.ts';
import type { ServerVoice } from './server-voices.ts';

export interface VoiceRequest {
  /** Cleaned by `spokenText`; never empty. */
  readonly text: string;
  /** One of the server's voices; undefined for its default. */
  readonly voice: string | undefined;
  readonly signal: AbortSignal;
}

export interface VoiceServer extends SpeechServer {
  /** As the newest probe found them; empty where the server lists none. */
  readonly voices: readonly ServerVoice[];

  /**
   * Synthesizes; each chunk is passed on as it arrives. Leaving the loop closes the connection.
   *
   * @returns PCM chunks: 8 kHz, mono, signed 16-bit, any length.
   * @throws {Error} naming the fault.
   * @throws the signal's reason when aborted.
   */
  speak(request: VoiceRequest): AsyncIterable<Int16Array>;
}

export interface VoiceServerOptions {
  /** Default: the protocol's own. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Makes a server of a protocol. */
export type OpenVoiceServer = (address: string, options: VoiceServerOptions) => VoiceServer;

/** What a probe has spoken. */
export const PROBE_TEXT = 'Hello.';
