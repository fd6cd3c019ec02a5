/** Details of a timeline entry in the language of the page; pure */
import type { formatsOf } from '../format.ts';
import { sentenceText } from './server-words.ts';
import { type Language, wordOf } from './text.ts';

/** Details whose values are words of the server, with the group of texts that has them. */
const GROUPS: Readonly<Record<string, string>> = {
  answeredBy: 'answeredBy',
  by: 'analysisBy',
  endReason: 'end',
  method: 'moveMethod',
  name: 'tool',
  outcome: 'outcome',
  sign: 'sign',
  status: 'state',
};

/** Details that say in a sentence why. */
const SENTENCES = ['reason', 'problem', 'failureReason', 'notExtracted'];

/** Where a passage stands that the language model was given. */
interface PassageSource {
  readonly document: string;
  readonly version: number;
  readonly passage: number;
}

/** How the page writes: its language, and how it formats numbers and instants. */
export interface Writing {
  readonly language: Language;
  readonly formats: ReturnType<typeof formatsOf>;
}

/** The details in one line; a name that has no text stands as the server writes it. What is false or null is left out. */
export function detailsText(writing: Writing, details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) => {
      const label = wordOf(writing.language, 'detail', name);
      return value === true ? label : `${label}: ${valueText(writing, name, value)}`;
    })
    .join(' · ');
}

function valueText({ language, formats }: Writing, name: string, value: unknown): string {
  const group = GROUPS[name];
  if (group !== undefined) return wordOf(language, group, String(value));
  if (SENTENCES.includes(name)) return sentenceText(language, String(value));
  if (name === 'sources' && Array.isArray(value)) {
    return value.map((source) => sourceText(language, source)).join(', ');
  }
  if (typeof value === 'number') {
    return name.endsWith('Ms') ? `${formats.decimal(value)} ms` : formats.decimal(value);
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return name.endsWith('At') ? formats.instant(value) : value;
}

function sourceText(language: Language, { document, version, passage }: PassageSource): string {
  const word = (name: string) => wordOf(language, 'detail', name);
  return `${document} (${word('version')} ${version}, ${word('passage')} ${passage})`;
}
