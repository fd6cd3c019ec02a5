/** Whisper's tokenizer: byte-level BPE tokens to text, and text to tokens; pure */
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';

/** The start of a token that begins a word: a space in GPT-2's alphabet of bytes. */
const SPACE = 'Ġ';

/** Length limit of a prompt; a word of that length would take long to merge. */
const TEXT_LENGTH_MAX = 1000;

/** The used part of `tokenizer.json`. */
interface TokenizerFile {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** Pairs that become one, most frequent first: `a b`, or `["a", "b"]`. */
    readonly merges?: readonly (string | readonly [string, string])[];
  };
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** The tokenizer of one model: byte-level BPE. */
export class Tokenizer {
  readonly #specials: ReadonlyMap<string, number>;
  readonly #specialIds: ReadonlySet<number>;
  readonly #library: LibraryTokenizer;
  readonly #hasMerges: boolean;

  private constructor({ model: { vocab, merges = [] }, added_tokens: added }: TokenizerFile) {
    this.#specials = new Map(added.map(({ content, id }) => [content, id]));
    this.#specialIds = new Set(this.#specials.values());
    this.#hasMerges = merges.length > 0;
    // Without the added tokens: in a prompt, `<|en|>` is text like any other.
    const form = { ...BYTE_LEVEL, added_tokens: [], model: { type: 'BPE', vocab, merges } };
    this.#library = new LibraryTokenizer(form, { clean_up_tokenization_spaces: false });
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
    return this.#hasText(id) && this.#library.id_to_token(id)?.startsWith(SPACE) === true;
  }

  /** Whether text can be encoded: closed vocabularies lack most words, and have no merges. */
  get canEncode(): boolean {
    return this.#hasMerges;
  }

  /** The tokens of a text, of its first 1000 characters; special tokens have no text. */
  encode(text: string): readonly number[] {
    return this.#library.encode(text.slice(0, TEXT_LENGTH_MAX)).ids;
  }

  /** The tokens' text; special tokens have none. */
  decode(ids: readonly number[]): string {
    const known = ids.filter((id) => this.#hasText(id));
    return known.length === 0 ? '' : this.#library.decode(known);
  }

  #hasText(id: number): boolean {
    return !this.#specialIds.has(id) && this.#library.id_to_token(id) !== undefined;
  }
}

/** GPT-2's way to part words and to write bytes as characters. */
const BYTE_LEVEL = {
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
};

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
