/** Runs at most one transcription request per utterance; a newer request cancels the older one. */
import type { Logger } from '../../lib/logger.ts';
import type { SpeechListener, TranscriptionPriority } from '../../speech/hearing/hearing.ts';
import type { TurnEvent } from './turn-event.ts';

/** No caller waits longer than this for their words to be understood. */
const TIMEOUT_MS = 5000;

/** Transcription of the current utterance; reports results as turn events. */
export class TranscriptionRequest {
  readonly #listener: SpeechListener;
  readonly #tell: (event: TurnEvent) => void;
  readonly #log: Logger;
  /** The one that is under way. */
  #request: AbortController | undefined;

  constructor(options: {
    readonly listener: SpeechListener;
    readonly tell: (event: TurnEvent) => void;
    readonly log: Logger;
  }) {
    this.#listener = options.listener;
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
      this.#tell({ kind: 'transcribed', attempt, text: said.text, confidence: said.confidence });
    } catch (error) {
      if (signal.aborted) return;
      this.#request = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      // An interim result gives way to more urgent requests, which is not a failure.
      const level = priority === 'partial' ? 'debug' : 'warn';
      this.#log[level]({ attempt, reason }, 'recogniser failed in a call');
      this.#tell({ kind: 'transcription-failed', attempt });
    }
  }

  /** Cancels the request in progress, if any. */
  cancel(): void {
    this.#request?.abort(new Error('the words are not wanted any more'));
  }
}
