/** The port of embedding models, and the prefixes by which models tell questions from texts. */

/** Whether a text is a search query, or a passage to be found; some models treat the two differently. */
export type TextRole = 'query' | 'passage';

/** An embedding model. */
export interface Embedder {
  /** Name, such as `ollama/nomic-embed-text`. Vectors of one name are comparable. */
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

/** Prefixes by model name. @see the cards of nomic-embed-text-v1.5, e5, mxbai-embed-large-v1 */
const PREFIXES: readonly (readonly [RegExp, Readonly<Record<TextRole, string>>])[] = [
  [/nomic-embed/, { query: 'search_query: ', passage: 'search_document: ' }],
  [/(^|[-/])(multilingual-)?e5/, { query: 'query: ', passage: 'passage: ' }],
  [
    /mxbai-embed/,
    { query: 'Represent this sentence for searching relevant passages: ', passage: '' },
  ],
];

/** Empty for a model that wants none. */
export function rolePrefix(model: string, role: TextRole): string {
  return PREFIXES.find(([name]) => name.test(model))?.[1][role] ?? '';
}
