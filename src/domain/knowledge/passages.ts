/** Parts a document into passages of a few sentences, each with the heading it stands under; pure */

/** A piece of a document that is found and shown by itself. */
export interface Passage {
  /** Headings above it, outermost first, with " › " between them; empty without one. */
  readonly heading: string;
  readonly text: string;
}

/** About 150 words: three of them leave a small model room for the call. */
const PASSAGE_CHARS_MAX = 900;

/** Overlap of a passage with the one before, so that a sentence about "it" stays near its subject. */
const OVERLAP_CHARS_MAX = 150;

/** Between the headings of a passage. */
const BETWEEN = ' › ';

/** A heading of Markdown (ATX). */
const HEADING = /^(#{1,6})\s+(.+?)\s*#*\s*$/;

/** A longer line is no heading; the expression takes quadratic time. */
const HEADING_CHARS_MAX = 120;

/** @param text plain text, or Markdown whose headings count. */
export function passagesOf(text: string): readonly Passage[] {
  const sections = sectionsOf(text);
  return sections.flatMap(({ heading, paragraphs }) =>
    packed(paragraphs.flatMap(sentencesWithin)).map((part) => ({ heading, text: part })),
  );
}

interface Section {
  readonly heading: string;
  readonly paragraphs: string[];
}

function sectionsOf(text: string): readonly Section[] {
  const path: string[] = [];
  const sections: Section[] = [{ heading: '', paragraphs: [] }];
  for (const block of text.toWellFormed().split(/\n\s*\n|(?=^#{1,6}\s)/m)) {
    const [first = '', ...rest] = block.trim().split('\n');
    const heading = first.length > HEADING_CHARS_MAX ? null : HEADING.exec(first);
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      path.length = Math.min(path.length, level - 1);
      path.push(onOneLine(heading[2] ?? ''));
      sections.push({ heading: path.join(BETWEEN), paragraphs: [] });
    }
    const body = onOneLine(heading === null ? block : rest.join('\n'));
    if (body !== '') sections.at(-1)?.paragraphs.push(body);
  }
  return sections.map(withWords).filter(({ paragraphs }) => paragraphs.length > 0);
}

/** A heading with nothing under it is a text of its own, unless a heading below it repeats it. */
function withWords(section: Section, index: number, sections: readonly Section[]): Section {
  const { heading, paragraphs } = section;
  const isParent = sections[index + 1]?.heading.startsWith(`${heading}${BETWEEN}`) ?? false;
  if (paragraphs.length > 0 || heading === '' || isParent) return section;
  const own = heading.split(BETWEEN).at(-1) ?? '';
  return { heading, paragraphs: [own] };
}

/** A paragraph as it is where it fits into a passage, else its sentences, else pieces of them. */
function sentencesWithin(paragraph: string): readonly string[] {
  if (paragraph.length <= PASSAGE_CHARS_MAX) return [paragraph];
  const sentences = paragraph.split(/(?<=[.!?…])\s+(?=\p{Lu}|\p{N})/u);
  return sentences.flatMap(piecesOf);
}

function piecesOf(sentence: string): readonly string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > PASSAGE_CHARS_MAX) {
    const space = rest.lastIndexOf(' ', PASSAGE_CHARS_MAX);
    const end = space > PASSAGE_CHARS_MAX / 2 ? space : wholeCharacters(rest);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
}

/** Where a text without spaces is cut: never inside a surrogate pair. */
function wholeCharacters(text: string): number {
  const isPair = /[\uD800-\uDBFF]/.test(text.charAt(PASSAGE_CHARS_MAX - 1));
  return isPair ? PASSAGE_CHARS_MAX - 1 : PASSAGE_CHARS_MAX;
}

/** Fills passages with parts, in their order. */
function packed(parts: readonly string[]): readonly string[] {
  const passages: string[] = [];
  let passage = '';
  for (const part of parts) {
    const isFull = passage !== '' && passage.length + part.length + 1 > PASSAGE_CHARS_MAX;
    if (isFull) {
      passages.push(passage);
      const overlap = endOf(passage);
      passage = overlap.length + part.length + 1 <= PASSAGE_CHARS_MAX ? overlap : '';
    }
    passage = passage === '' ? part : `${passage} ${part}`;
  }
  return passage === '' ? passages : [...passages, passage];
}

/** The last whole sentence, where it is short. */
function endOf(passage: string): string {
  const last = passage.split(/(?<=[.!?…])\s+/).at(-1) ?? '';
  return last.length <= OVERLAP_CHARS_MAX && last !== passage ? last : '';
}

function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
