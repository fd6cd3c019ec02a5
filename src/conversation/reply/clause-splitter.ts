/** Splits streamed model text for the synthesiser: a short clause first, then sentences; pure */

/** A first piece may end in a comma once it is this long, and any piece at a word where the voice waits for it. */
const FIRST_CLAUSE_MIN = 12;

/** A first piece may be a sentence as short as "Yes." */
const FIRST_SENTENCE_MIN = 3;

/** Later pieces are not shorter than this: very short ones sound chopped. */
const SENTENCE_MIN = 24;

/** From here on a comma will do, so that the voice does not run dry. */
const LONG = 140;

/** No piece is longer than this. */
const LENGTH_MAX = 240;

/** A mark that may end a piece. The text after it must have arrived already, except after ideographic marks. */
const MARKS = /[.!?…؟۔।॥]+["'”’)\]]*(?=\s+\S)|[。！？]+|\n+|[,;:–—،؛](?=\s)|[，；：]/gu;

/** Titles are followed by a name, so their point never ends a sentence. */
const TITLE = /(?:^|\s|\()(?:Mr|Mrs|Ms|Mx|Dr|Prof|St|Sr|Sra|Srta|Dott|Sig|Hr|Fr|Mme|Mlle)$/;

/** The point after these ends a sentence only before a capital letter. */
const ABBREVIATION =
  /(?:^|\s|\()(?:No|Nr|Inc|Ltd|Co|Corp|Jr|vs|etc|approx|ext|tel|min|max|Ave|Blvd|Rd|e\.g|i\.e|a\.m|p\.m|z\.B|d\.h|ca|núm|art)$/i;

const INITIAL = /(?:^|\s|\.)\p{Lu}$/u;

/** Splits a stream of text into clauses. One instance per reply. */
export class ClauseSplitter {
  #text = '';
  #isFirst = true;

  /** Takes more text. @returns the pieces that are whole now. */
  push(text: string): string[] {
    this.#text += text;
    const pieces: string[] = [];
    for (let end = this.#end(); end !== undefined; end = this.#end()) {
      const piece = this.#text.slice(0, end).trim();
      this.#text = this.#text.slice(end).trimStart();
      if (piece === '') continue;
      this.#isFirst = false;
      pieces.push(piece);
    }
    return pieces;
  }

  /** Cuts a piece at a word's end, without a mark, where there are enough words for one. */
  hurry(): string[] {
    const end = this.#text.lastIndexOf(' ');
    if (end < FIRST_CLAUSE_MIN) return [];
    const piece = this.#text.slice(0, end).trim();
    this.#text = this.#text.slice(end).trimStart();
    this.#isFirst = false;
    return [piece];
  }

  /** @returns what is left, at the end of the text. */
  flush(): string[] {
    const rest = this.#text.trim();
    this.#text = '';
    return rest === '' ? [] : [rest];
  }

  /** End of the first piece of the text; undefined while it may go on. */
  #end(): number | undefined {
    for (const mark of this.#text.matchAll(MARKS)) {
      const end = mark.index + mark[0].length;
      if (end > LENGTH_MAX) break;
      if (this.#mayEnd(mark[0], mark.index, end)) return end;
    }
    if (this.#text.length <= LENGTH_MAX) return undefined;
    const space = this.#text.lastIndexOf(' ', LENGTH_MAX);
    return space > 0 ? space : LENGTH_MAX;
  }

  #mayEnd(mark: string, start: number, end: number): boolean {
    if (mark.startsWith('\n')) return true;
    if (/^[,;:–—،؛，；：]/.test(mark)) return end >= (this.#isFirst ? FIRST_CLAUSE_MIN : LONG);
    if (end < (this.#isFirst ? FIRST_SENTENCE_MIN : SENTENCE_MIN)) return false;
    return mark !== '.' || isSentenceEnd(this.#text.slice(0, start), this.#text.slice(end));
  }
}

function isSentenceEnd(before: string, after: string): boolean {
  if (TITLE.test(before) || INITIAL.test(before)) return false;
  // The number of a list item, such as "1. Monday", belongs to what follows.
  if (/(?:^|\s)\d{1,2}$/.test(before) && before.trim().length <= 2) return false;
  return ABBREVIATION.test(before)
    ? /^\s+["'“¿¡(]?\p{Lu}/u.test(after)
    : !/^\s+\p{Ll}/u.test(after);
}

/** A star that stands alone in a line is a telephone key; any other is markup. */
const MARKUP_STAR = /\*{2,}|(?<!\S |\()\*|\*(?![\s.,;:!?)]|$)/g;

/** Characters that models write as HTML does. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&apos;': "'" },
  '&nbsp;': ' ',
};

/** Emoji with the parts that they are made of. Other joiners are of letters. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u{FE0F})\u{200D}?|\u{20E3}/gu;

/** The text for speech synthesis: without markup, a row of a table as a list. Empty when nothing is left to say. */
export function speakable(text: string): string {
  return text
    .replace(/^\s*\|[\s:|-]*\|\s*$/gm, '')
    .replace(/^\s*\|\s*/gm, '')
    .replace(/[.,]?\s*\|\s*$/gm, '.')
    .replace(/\s*\|\s*/g, ', ')
    .replace(/&(?:amp|lt|gt|quot|apos|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(#{1,6}|[-*•])\s+/gm, '')
    .replace(MARKUP_STAR, '')
    .replace(/`+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replace(/(?<=^|\s)[:;]-?[()DP](?=[\s.,!?]|$)/g, '')
    .replace(EMOJI, '')
    .replace(/\s+/g, ' ')
    .trim();
}
