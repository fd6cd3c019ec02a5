/** The PCM of one sentence on its way from the speaking child to whoever plays it. */

/** Filled from one side, read from the other, by one reader. Its length is bounded by the child. */
export class SpokenAudio {
  readonly #chunks: Int16Array[] = [];
  #end: { readonly error: Error | null } | undefined;
  #wake: () => void = () => undefined;

  push(pcm: Int16Array): void {
    if (this.#end === undefined) {
      this.#chunks.push(pcm);
      this.#wake();
    }
  }

  /** Ends it: after the chunks still waiting, or at once with an error. The first end counts. */
  end(error: Error | null): void {
    if (this.#end !== undefined) {
      return;
    }
    this.#end = { error };
    if (error !== null) {
      this.#chunks.length = 0;
    }
    this.#wake();
  }

  /** @returns null at the end. @throws what it was ended with. */
  async next(): Promise<Int16Array | null> {
    while (this.#chunks.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    if (chunk === undefined && this.#end?.error) {
      throw this.#end.error;
    }
    return chunk ?? null;
  }
}
