/** Ten books of the King James Version (1611, public domain) by the program `bible` of Debian's package `bible-kjv`. */
import { execFileSync } from 'node:child_process';

/** A verse, by which an answer is found again. */
export interface Verse {
  readonly chapter: number;
  readonly verse: number;
  readonly text: string;
}

export interface Book {
  readonly name: string;
  readonly verses: readonly Verse[];
}

/** Names as the questions have them, with the last verse of each. */
const BOOKS = [
  ['Genesis', '50:26'],
  ['Exodus', '40:38'],
  ['Judges', '21:25'],
  ['Ruth', '4:22'],
  ['1 Samuel', '31:13'],
  ['Esther', '10:3'],
  ['Daniel', '12:13'],
  ['Jonah', '4:11'],
  ['Matthew', '28:20'],
  ['Acts', '28:31'],
] as const;

/**
 * @param program path of `bible`.
 * @param data folder of `bible.data`; that of the package unless given.
 */
export function readBooks(program: string, data?: string): readonly Book[] {
  return BOOKS.map(([name, end]) => {
    const word = name.replace(' ', '');
    const path = data === undefined ? [] : ['-p', data];
    const range = `${word}1:1-${word}${end}`;
    const output = execFileSync(program, [...path, '-f', range], { encoding: 'utf8' });
    return { name, verses: output.split('\n').flatMap(verseOf) };
  });
}

function verseOf(line: string): readonly Verse[] {
  const found = /^\d?[A-Za-z]+(\d+):(\d+) (.+)$/.exec(line);
  if (found === null) return [];
  const [, chapter, verse, text = ''] = found;
  return [{ chapter: Number(chapter), verse: Number(verse), text }];
}

/** A book as a document, with its chapters as headings. */
export function documentOf({ name, verses }: Book): string {
  const chapters = Map.groupBy(verses, ({ chapter }) => chapter);
  const parts = [...chapters].map(([chapter, of]) => {
    return `## Chapter ${chapter}\n\n${of.map(({ text }) => text).join('\n')}`;
  });
  return `# ${name}\n\n${parts.join('\n\n')}`;
}
