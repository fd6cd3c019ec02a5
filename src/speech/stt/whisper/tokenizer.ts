/** Whisper's tokenizer: byte-level BPE tokens to text, and text to tokens; pure */

/** The start of a token that begins a word: a space in GPT-2's alphabet of bytes. */
const SPACE = 'Ġ';

const BYTE_OF_CHARACTER = byteAlphabet();
const ALPHABET = [...BYTE_OF_CHARACTER]
  .toSorted(([, byte], [, other]) => byte - other)
  .map(([character]) => character);

/** The used part of `tokenizer.json`. */
interface TokenizerFile {
  readonly model: Pick<BytePairFile, 'vocab'> & Partial<BytePairFile>;
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** The tokenizer of one model: byte-level BPE. */
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

  /** Whether text can be encoded: closed vocabularies lack most words. */
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

/** Length limit of a prompt; a word of that length would take long to merge. */
const TEXT_LENGTH_MAX = 1000;

/** @see openai/gpt-2, encoder.py: the pattern that parts words before they are merged */
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

interface BytePairFile {
  readonly vocab: Readonly<Record<string, number>>;
  /** Pairs that become one, most frequent first: `a b`, or `["a", "b"]`. */
  readonly merges: readonly (string | readonly [string, string])[];
}

/** Byte-pair encoding of text. */
class BytePairs {
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #alphabet: readonly string[];

  /** @param alphabet the character that stands for each of the 256 bytes. */
  constructor(file: BytePairFile, alphabet: readonly string[]) {
    this.#vocabulary = new Map(Object.entries(file.vocab));
    this.#ranks = new Map(
      file.merges.map((pair, rank) => [typeof pair === 'string' ? pair : pair.join(' '), rank]),
    );
    this.#alphabet = alphabet;
  }

  /** Whether the tokenizer has merges; without them text would become single bytes. */
  get canEncode(): boolean {
    return this.#ranks.size > 0;
  }

  /** The tokens of a text; of its first 1000 characters. */
  encode(text: string): readonly number[] {
    const words = text.slice(0, TEXT_LENGTH_MAX).match(WORDS) ?? [];
    return words.flatMap((word) => this.#encodeWord(word));
  }

  #encodeWord(word: string): readonly number[] {
    const letters = Array.from(
      new TextEncoder().encode(word),
      (byte) => this.#alphabet[byte] as string,
    );
    return this.#merged(letters).flatMap((part) => this.#vocabulary.get(part) ?? []);
  }

  /** Joins the pair with the lowest rank until no known pair is left. */
  #merged(letters: readonly string[]): readonly string[] {
    let parts = letters;
    while (parts.length > 1) {
      const best = this.#firstLearnt(parts);
      if (best === null) break;
      parts = joinPair(parts, best);
    }
    return parts;
  }

  #firstLearnt(parts: readonly string[]): string | null {
    let best: string | null = null;
    let bestRank = Number.POSITIVE_INFINITY;
    for (let index = 1; index < parts.length; index += 1) {
      const pair = `${parts[index - 1]} ${parts[index]}`;
      const rank = this.#ranks.get(pair) ?? Number.POSITIVE_INFINITY;
      if (rank < bestRank) [best, bestRank] = [pair, rank];
    }
    return best;
  }
}

function joinPair(parts: readonly string[], pair: string): readonly string[] {
  const joined: string[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const isPair = `${parts[index]} ${parts[index + 1]}` === pair;
    joined.push(isPair ? `${parts[index]}${parts[index + 1]}` : (parts[index] as string));
    if (isPair) index += 1;
  }
  return joined;
}
