/** A language model that is a rule book: for the demo, the sandbox, the tests, and where no model is installed. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { LanguageModel, ModelEvent, ModelRequest } from '../language-model.ts';
import { analyse } from './analysis.ts';
import type { RuleBook } from './rule-book.ts';
import { answerTo } from './rule-match.ts';

export class ScriptedModel implements LanguageModel {
  readonly name: string;
  readonly ignoresPrompts = true;
  readonly #book: RuleBook;
  readonly #clock: Clock;
  readonly #firstWordMs: number;
  readonly #wordMs: number;
  #calls = 0;

  /** @param options.firstWordMs and `wordMs`: how long a real model would take; nothing unless given. */
  constructor(options: {
    readonly book: RuleBook;
    readonly clock?: Clock;
    readonly firstWordMs?: number;
    readonly wordMs?: number;
  }) {
    this.name = `scripted/${options.book.name}`;
    this.#book = options.book;
    this.#clock = options.clock ?? systemClock;
    this.#firstWordMs = options.firstWordMs ?? 0;
    this.#wordMs = options.wordMs ?? 0;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const { signal } = request;
    await this.#wait(this.#firstWordMs, signal);
    if (request.schema !== undefined) {
      yield { kind: 'text', text: JSON.stringify(analyse(this.#book, request)) };
      return;
    }
    const { text, call } = answerTo(this.#book, request);
    for (const [index, word] of text.split(/(?=\s)/).entries()) {
      if (index > 0) await this.#wait(this.#wordMs, signal);
      if (word !== '') yield { kind: 'text', text: word };
    }
    if (call === undefined) return;
    this.#calls += 1;
    yield { kind: 'tool-call', call: { id: `call_${this.#calls}`, ...call } };
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (delayMs <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(delayMs, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      const stop = () => {
        cancel();
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
