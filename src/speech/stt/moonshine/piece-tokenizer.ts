/** The reading half of a SentencePiece-like tokenizer: token numbers back to text; pure */

/** Stands for a space within tokens. */
const SPACE = '▁';

/** A byte that has no token of its own text: `<0x0A>`. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { readonly id: number; readonly special: boolean }[];
}

export class PieceTokenizer {
  readonly #pieces = new Map<number, string>();

  private constructor(file: TokenizerFile) {
    for (const [piece, id] of Object.entries(file.model.vocab)) this.#pieces.set(id, piece);
    for (const { id, special } of file.added_tokens) if (special) this.#pieces.delete(id);
  }

  /**
   * Takes `tokenizer.json` as parsed.
   *
   * @throws {TypeError} saying which part is missing.
   * @see huggingface/tokenizers: a BPE model with byte fallback behind a Metaspace decoder
   */
  static parse(json: unknown): PieceTokenizer {
    const { model, added_tokens: added } = (json ?? {}) as Partial<TokenizerFile>;
    if (typeof model?.vocab !== 'object' || model.vocab === null || !Array.isArray(added)) {
      throw new TypeError('expected "model.vocab" and "added_tokens" of a BPE tokenizer');
    }
    return new PieceTokenizer({ model, added_tokens: added });
  }

  /** Whether the token begins a new word. */
  startsWord(id: number): boolean {
    return this.#pieces.get(id)?.startsWith(SPACE) === true;
  }

  /** The tokens' text; special tokens have none. */
  decode(ids: readonly number[]): string {
    const bytes = ids.flatMap((id) => {
      const piece = this.#pieces.get(id) ?? '';
      const hex = BYTE.exec(piece)?.[1];
      if (hex !== undefined) return [Number.parseInt(hex, 16)];
      return [...new TextEncoder().encode(piece.replaceAll(SPACE, ' '))];
    });
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}
