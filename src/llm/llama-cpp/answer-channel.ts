/** One answer on its way from the process that writes it to the one who reads it. */
import type { FromLlama } from './llama-messages.ts';

type Part = Extract<FromLlama, { readonly kind: 'event' | 'done' }>;

/** The engine writes no more tokens than an answer may have, so the queue is never longer than that. */
export class AnswerChannel {
  readonly #parts: Part[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  #isWhole = false;

  /** Whether the writer is done with it, well or not. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(part: Part): void {
    this.#isWhole ||= part.kind === 'done';
    this.#parts.push(part);
    this.#wake();
  }

  /** Ends it with an error; what has come before is not read any more. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** Yields what comes, until it is done. @throws what `fail` was given. */
  async *messages(): AsyncIterable<Part> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const part = this.#parts.shift();
      if (part === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      yield part;
      if (part.kind === 'done') return;
    }
  }
}
