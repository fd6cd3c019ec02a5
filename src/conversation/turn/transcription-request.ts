/** Runs at most one transcription request per utterance; a newer request cancels the older one. */
import { languageOf } from '../../lib/language-tag.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { SpeechListener, TranscriptionPriority } from '../../speech/hearing/hearing.ts';
import type { TurnEvent } from './turn-event.ts';

/** No caller waits longer than this for their words to be understood. */
const TIMEOUT_MS = 5000;

/** Factor on the confidence where the recogniser took another language than the agent's. */
const FOREIGN_SHARE = 0.5;

/** Transcription of the current utterance; reports results as turn events. */
export class TranscriptionRequest {
  readonly #listener: SpeechListener;
  readonly #language: string;
  readonly #tell: (event: TurnEvent) => void;
  readonly #log: Logger;
  /** The one that is under way. */
  #request: AbortController | undefined;

  constructor(options: {
    readonly listener: SpeechListener;
    /** The agent's, BCP 47. */
    readonly language: string;
    readonly tell: (event: TurnEvent) => void;
    readonly log: Logger;
  }) {
    this.#listener = options.listener;
    this.#language = options.language;
    this.#tell = options.tell;
    this.#log = options.log;
  }

  /** Asks for the words so far; a request before it is given up. Never rejects. */
  async request(attempt: number, priority: TranscriptionPriority): Promise<void> {
    this.cancel();
    const request = new AbortController();
    this.#request = request;
    const { signal } = request;
    try {
      const said = await this.#listener.transcribe({ priority, signal, timeoutMs: TIMEOUT_MS });
      if (signal.aborted) return;
      this.#request = undefined;
      const isForeign = languageCode(said.language) !== languageCode(this.#language);
      const confidence = said.confidence * (isForeign ? FOREIGN_SHARE : 1);
      const { text, clearVoiceMs } = said;
      const clear = clearVoiceMs === undefined ? {} : { clearVoiceMs };
      this.#tell({ kind: 'transcribed', attempt, text, confidence, ...clear });
    } catch (error) {
      if (signal.aborted) return;
      this.#request = undefined;
      // An interim result gives way to more urgent requests, which is not a failure.
      const level = priority === 'partial' ? 'debug' : 'warn';
      this.#log[level]({ attempt, reason: messageOf(error) }, 'recogniser failed in a call');
      this.#tell({ kind: 'transcription-failed', attempt });
    }
  }

  /** Cancels the request in progress, if any. */
  cancel(): void {
    this.#request?.abort(new Error('the words are not wanted any more'));
  }
}

/** Languages for which recognisers have another code than agents may have. */
const CODES: Readonly<Record<string, string>> = { nb: 'no', cmn: 'zh', fil: 'tl' };

/** `en` of `en-US`. */
function languageCode(tag: string): string {
  const code = languageOf(tag);
  return CODES[code] ?? code;
}
