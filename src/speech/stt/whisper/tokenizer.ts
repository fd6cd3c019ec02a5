/** Whisper's tokenizer: token numbers back to text, and text to token numbers; pure */
import { type BytePairFile, BytePairs } from './byte-pairs.ts';

/** The start of a token that begins a word: a space in GPT-2's alphabet of bytes. */
const SPACE = 'Ġ';

const BYTE_OF_CHARACTER = byteAlphabet();
const ALPHABET = [...BYTE_OF_CHARACTER]
  .toSorted(([, byte], [, other]) => byte - other)
  .map(([character]) => character);

/** What there is of `tokenizer.json` that matters here. */
interface TokenizerFile {
  readonly model: Pick<BytePairFile, 'vocab'> & Partial<BytePairFile>;
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** One model's tokens. */
export class Tokenizer {
  readonly #contents = new Map<number, string>();
  readonly #specials = new Map<string, number>();
  readonly #bytePairs: BytePairs;

  private constructor(file: TokenizerFile) {
    for (const [content, id] of Object.entries(file.model.vocab)) this.#contents.set(id, content);
    for (const { id, content } of file.added_tokens) {
      this.#specials.set(content, id);
      this.#contents.delete(id);
    }
    const { vocab, merges = [] } = file.model;
    this.#bytePairs = new BytePairs({ vocab, merges }, ALPHABET);
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

  /** Whether text can be written in tokens: closed vocabularies have none for most words. */
  get canEncode(): boolean {
    return this.#bytePairs.canEncode;
  }

  /** The tokens of a text; special tokens have no text. */
  encode(text: string): readonly number[] {
    return this.#bytePairs.encode(text);
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
  const { vocab, merges = [] } = model as { vocab?: unknown; merges?: unknown };
  const areAddedSound = added.every(
    (token) => typeof token?.id === 'number' && typeof token?.content === 'string',
  );
  const isVocabulary = typeof vocab === 'object' && vocab !== null && !Array.isArray(vocab);
  return isVocabulary && areMerges(merges) && areAddedSound;
}

function areMerges(merges: unknown): boolean {
  const isPair = (pair: unknown) =>
    typeof pair === 'string' || (Array.isArray(pair) && pair.length === 2);
  return Array.isArray(merges) && merges.every(isPair);
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
