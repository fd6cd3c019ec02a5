/** The reading half of Whisper's tokenizer: token numbers back to text; pure */

/** The start of a token that begins a word: a space in GPT-2's alphabet of bytes. */
const SPACE = 'Ġ';

const BYTE_OF_CHARACTER = byteAlphabet();

/** What there is of `tokenizer.json` that decoding needs. */
interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** One model's tokens. */
export class Tokenizer {
  readonly #contents = new Map<number, string>();
  readonly #specials = new Map<string, number>();

  private constructor(file: TokenizerFile) {
    for (const [content, id] of Object.entries(file.model.vocab)) this.#contents.set(id, content);
    for (const { id, content } of file.added_tokens) {
      this.#specials.set(content, id);
      this.#contents.delete(id);
    }
  }

  /**
   * Takes `tokenizer.json` as parsed.
   *
   * @throws {TypeError} saying which part is missing.
   * @see huggingface/tokenizers: a BPE model behind a ByteLevel decoder
   */
  static parse(json: unknown): Tokenizer {
    if (!isTokenizerFile(json)) {
      throw new TypeError('expected "model.vocab" and "added_tokens" of a BPE tokenizer');
    }
    return new Tokenizer(json);
  }

  /** The number of a special token, such as `<|endoftext|>`. */
  specialToken(content: string): number | undefined {
    return this.#specials.get(content);
  }

  /** Language codes that the model knows, each with its token: `en` of `<|en|>`. */
  languageTokens(): ReadonlyMap<string, number> {
    const codes = [...this.#specials].flatMap(([content, id]) => {
      const code = /^<\|([a-z]{2,3})\|>$/.exec(content)?.[1];
      return code === undefined ? [] : [[code, id] as const];
    });
    return new Map(codes);
  }

  /** Whether the token begins a new word. */
  startsWord(id: number): boolean {
    return this.#contents.get(id)?.startsWith(SPACE) === true;
  }

  /** The tokens' text; special tokens have none. */
  decode(ids: readonly number[]): string {
    const bytes: number[] = [];
    for (const id of ids) {
      for (const character of this.#contents.get(id) ?? '') {
        const byte = BYTE_OF_CHARACTER.get(character);
        if (byte !== undefined) bytes.push(byte);
      }
    }
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}

function isTokenizerFile(json: unknown): json is TokenizerFile {
  if (typeof json !== 'object' || json === null) return false;
  const { model, added_tokens: added } = json as { model?: unknown; added_tokens?: unknown };
  if (typeof model !== 'object' || model === null || !Array.isArray(added)) return false;
  const { vocab } = model as { vocab?: unknown };
  const areAddedSound = added.every(
    (token) => typeof token?.id === 'number' && typeof token?.content === 'string',
  );
  return typeof vocab === 'object' && vocab !== null && !Array.isArray(vocab) && areAddedSound;
}

/**
 * GPT-2 writes every byte as a printable character: itself where it is one, else 256 and up in order.
 *
 * @see openai/gpt-2, encoder.py, bytes_to_unicode
 */
function byteAlphabet(): ReadonlyMap<string, number> {
  const isPrintable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const alphabet = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte += 1) {
    alphabet.set(String.fromCodePoint(isPrintable(byte) ? byte : next), byte);
    if (!isPrintable(byte)) next += 1;
  }
  return alphabet;
}
