/** Port of embedding models: texts in, vectors out whose directions are alike where the meanings are. */

/** Whether a text is looked for, or is what others are looked for in; some models tell the two apart. */
export type TextRole = 'query' | 'passage';

/** An embedding model. */
export interface Embedder {
  /** Such as `ollama/nomic-embed-text`. Vectors of one name are comparable. */
  readonly name: string;

  /** Why it cannot answer at present, where that is known without a request; undefined where it can. */
  readonly problem?: string | undefined;

  /**
   * Gives one vector for each text, all of one length: float32, scaled to the length 1.
   *
   * @throws {LanguageModelError} when the model does not answer, or not with such vectors.
   * @throws the signal's reason when aborted.
   */
  embed(
    texts: readonly string[],
    options: { readonly role: TextRole; readonly signal: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}
