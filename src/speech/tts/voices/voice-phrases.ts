/** Cuts a text into sentences of phonemes that keep the punctuation, and knows which word is where in them; pure */

/** What parts words for a voice. Quotes and brackets are not said. */
const MARKS = /[,;:.!?…—–¡¿]/u;

/** Words between two marks, and the mark after them. */
interface Chunk {
  readonly words: readonly string[];
  readonly mark: string;
  readonly endsSentence: boolean;
}

/** One run of the model. */
export interface Phrase {
  readonly phonemes: string;
  /** For each of its words, how many code points of `phonemes` have been said at its end. */
  readonly wordEnds: readonly number[];
}

/** Words of a text as blanks part them, in chunks; every word is in one, also those without a sound. */
export function chunksOf(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let words: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    words.push(word);
    const mark = lastMark(word);
    if (mark === '') continue;
    chunks.push({ words, mark, endsSentence: /[.!?…]/.test(mark) });
    words = [];
  }
  if (words.length > 0) chunks.push({ words, mark: '', endsSentence: true });
  return chunks;
}

/** What a chunk's words are without punctuation, for the phonemizer. */
export function bareWords({ words }: Chunk): string {
  return words
    .map((word) => word.replace(/[^\p{L}\p{M}\p{N}'’%&+@-]/gu, ' ').trim())
    .filter((word) => word !== '')
    .join(' ');
}

/**
 * Puts chunks together to phrases of a sentence each.
 *
 * @param spoken the phonemes of each chunk.
 * @param phonemesMax longer sentences are cut, at a mark where there is one.
 */
export function phrasesOf(
  chunks: readonly Chunk[],
  spoken: readonly string[],
  phonemesMax: number,
): readonly Phrase[] {
  const phrases: Phrase[] = [];
  let phonemes = '';
  let wordEnds: number[] = [];
  const close = () => {
    if (wordEnds.length > 0) phrases.push({ phonemes: phonemes.trim(), wordEnds });
    phonemes = '';
    wordEnds = [];
  };
  chunks.forEach((chunk, index) => {
    for (const piece of piecesOf(chunk, spoken[index] ?? '', phonemesMax)) {
      if (countOf(phonemes) + countOf(piece.phonemes) + 1 > phonemesMax) close();
      const start = countOf(phonemes);
      phonemes += piece.phonemes;
      wordEnds.push(...piece.wordEnds.map((end) => start + end));
      if (phonemes !== '') phonemes += ' ';
    }
    if (chunk.endsSentence) close();
  });
  close();
  return phrases;
}

/** A chunk's phonemes with its mark, in pieces no longer than may be. */
function piecesOf(chunk: Chunk, spoken: string, phonemesMax: number): readonly Phrase[] {
  const said = spoken.split(' ').filter((word) => word !== '');
  const mark = said.length === 0 ? '' : chunk.mark;
  const whole = `${said.join(' ')}${mark}`;
  if (countOf(whole) <= phonemesMax - 1) {
    return [{ phonemes: whole, wordEnds: endsOf(chunk.words, said) }];
  }
  // Nobody says so much between two marks; what is left of the words is dealt out evenly.
  const pieces: Phrase[] = [];
  const points = [...whole];
  const count = Math.ceil(points.length / (phonemesMax - 1));
  const each = Math.ceil(chunk.words.length / count);
  for (let n = 0; n < count; n++) {
    const phonemes = points.slice(n * (phonemesMax - 1), (n + 1) * (phonemesMax - 1)).join('');
    const words = chunk.words.slice(n * each, (n + 1) * each);
    pieces.push({
      phonemes,
      wordEnds: words.map((_, at) => ((at + 1) * countOf(phonemes)) / words.length),
    });
  }
  return pieces;
}

/** Word by word where both have as many; in proportion to how they are spelt where not. */
function endsOf(words: readonly string[], said: readonly string[]): readonly number[] {
  const lengths = said.map((word) => countOf(word) + 1);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let end = 0;
  if (said.length === words.length) {
    return lengths.map((length) => {
      end += length;
      return end;
    });
  }
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  return words.map((word) => {
    end += word.length + 1;
    return (end * total) / letters;
  });
}

/** Marks at the end of a word, the strongest of them; `9.` and `e.g.` are words of a text that was read out before. */
function lastMark(word: string): string {
  const tail = /[^\p{L}\p{M}\p{N}]+$/u.exec(word)?.[0] ?? '';
  const marks = [...tail].filter((sign) => MARKS.test(sign));
  const strong = marks.find((sign) => /[.!?…]/.test(sign));
  return strong ?? marks[0] ?? (/^[—–-]$/.test(word) ? '—' : '');
}

/** Code points, which is what models count. */
function countOf(text: string): number {
  return [...text].length;
}
