/** The writing half of Whisper's tokenizer: text to token numbers by byte-pair encoding; pure */

/** A longer text has no place in a prompt, and a word of that length would take long to merge. */
const TEXT_LENGTH_MAX = 1000;

/** @see openai/gpt-2, encoder.py: the pattern that parts words before they are merged */
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

export interface BytePairFile {
  readonly vocab: Readonly<Record<string, number>>;
  /** Pairs that become one, most frequent first: `a b`, or `["a", "b"]`. */
  readonly merges: readonly (string | readonly [string, string])[];
}

export class BytePairs {
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

  /** Whether it has learnt to put letters together; without that, text would fall apart into bytes. */
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

  /** Joins the pair that was learnt first, wherever it stands, until no pair is known. */
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
