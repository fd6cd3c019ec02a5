/** Passages of documents: how a document is split, and which words of a question count; pure */
import { languageOf } from '../../lib/language-tag.ts';

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

/** Separator between the headings of a passage. */
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

/** A heading without paragraphs becomes the text of its section, unless a heading below it repeats it. */
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

/** Position at which a text without spaces is cut: never inside a surrogate pair. */
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

/** Function words by language: articles of one are nouns of another. Nearly every passage has them; a search for them is slow and finds nothing. */
const FUNCTION_WORDS = {
  en: 'a an and any are as at be been but by can could did do does for from get had has have he her him his how i if in into is it its just me my no not of on or our out please she should so some tell than that the their them then there they this to up us was we were what when where which who whom whose why will with would you your',
  de: 'als am an auf aus bei bin bis bitte das dass dem den der des die dies diese ein eine einen einer es für haben hat hatte ich ihr ihre im in ist ja kann können man mein mich mir mit muss nach nicht noch nur oder sehr sein sich sie sind so um und uns vom von vor war was wann warum wenn wer werden wie wir wird wo zu zum zur über',
  fr: 'ai au aux avec avez ce ces cette comment dans de des du elle en est et être il ils je la le les leur lui ma mais me mes mon ne nous on ont ou où par pas pour pourquoi quand que quel quelle qui sa se ses son sont sur un une vos votre vous y à',
  es: 'al como con cuando cuál cuándo cómo de del donde dónde el ella en es esta este está están ha hay la las le les lo los me mi mis muy más no nos o para pero por porque puede puedo qué que quien quién se si sin su sus también un una y yo',
  it: 'a ad ai al alla che chi ci come con cosa da dal dalla dei del della delle di dove e gli ha hai hanno ho i il in io la le lo ma mi mio nel nella no non o per perché posso può quale quando quanto questo se si sono su sua suo un una uno è',
  pt: 'a ao as com como da das de do dos e ela ele em essa esse este está eu foi há isso mais mas me meu minha na não no nos o onde os ou para pela pelo por posso qual quando quanto que quem se ser seu sua são também tem um uma é',
  nl: 'aan als bij dat de deze die dit een en er haar heb hebben heeft het hij hoe ik in is je jullie kan kunnen maar me met mij mijn naar niet nog of om onze op te tot uit van voor waar waarom wanneer was wat we welke wie wij wordt zij zijn zo',
};

const WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FUNCTION_WORDS).map(([language, list]) => [language, new Set(list.split(' '))]),
);

/**
 * The content words of a question, in lower case and without repeats; all of its words where it has none.
 *
 * @param language BCP 47, such as `de-AT`; of one without a list no word is left out.
 */
export function tellingWords(question: string, language: string): readonly string[] {
  const found = question
    .toLowerCase()
    .normalize('NFC')
    .match(/[\p{L}\p{N}]+/gu);
  const words = [...new Set(found)];
  const functionWords = WORDS.get(languageOf(language));
  const telling = words.filter((word) => functionWords?.has(word) !== true);
  return telling.length === 0 ? words : telling;
}
