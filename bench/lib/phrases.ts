/** The closed set of things that our test callers say, drawn as models/train/phrases.py draws them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A source of numbers from 0 up to, not including, 1. */
export type Chance = () => number;

export interface Phrase {
  readonly text: string;
  readonly language: 'en' | 'es';
}

/** The words and sentences stand there alone, so that a model and its tests never know different ones. */
const SOURCE = readFileSync(
  fileURLToPath(new URL('../../models/train/phrases.py', import.meta.url)),
  'utf8',
);

const [DIGITS, DAYS, HOURS] = ['DIGITS', 'DAYS', 'HOURS'].map(wordsNamed);
const [FIRST_NAMES, LAST_NAMES] = ['FIRST_NAMES', 'LAST_NAMES'].map(wordsNamed);
const [FIXED, SPANISH] = ['FIXED', 'SPANISH'].map(linesNamed);
const REMARKS = [...blockNamed('REMARKS', /= \[\n(.*?)\n\]/s).matchAll(/"(.*?)",?$/gm)].map(
  ([, remark = '']) => remark,
);

/** One phrase; the shares of the kinds are those of the training. */
export function samplePhrase(chance: Chance): Phrase {
  const share = chance();
  if (share < 0.07) return { language: 'es', text: pick(chance, SPANISH) };
  if (share < 0.5) return { language: 'en', text: pick(chance, FIXED) };
  return { language: 'en', text: phraseWithSlots(chance) };
}

/** One of several, each as likely as the others. @throws {RangeError} when there is none. */
export function pick<Item>(chance: Chance, items: readonly Item[] | undefined): Item {
  const item = items?.[Math.floor(chance() * items.length)];
  if (item === undefined) throw new RangeError('Cannot choose from an empty list');
  return item;
}

function phraseWithSlots(chance: Chance): string {
  const share = chance();
  if (share < 0.34) return digits(chance);
  if (share < 0.6) return day(chance);
  if (share < 0.8) return name(chance);
  if (share < 0.9) {
    const opening = pick(chance, ['At', 'No, at', 'Yes, at']);
    return `${opening} ${pick(chance, HOURS)} o'clock.`;
  }
  return `${pick(chance, ['Yes', 'No', 'Okay'])}, ${pick(chance, REMARKS)}`;
}

function digits(chance: Chance): string {
  const count = pick(chance, [1, 2, 3, 3, 4, 4, 5, 6, 7]);
  const spoken = Array.from({ length: count }, () => pick(chance, DIGITS)).join(' ');
  const alone = `${capitalized(spoken)}.`;
  if (count === 1) return alone;
  return pick(chance, [alone, `My number is ${spoken}.`, `My order number is ${spoken}.`]);
}

function day(chance: Chance): string {
  const openings = ['I would like to book an appointment for', 'Can I come on', 'Are you open on'];
  const opening = pick(chance, [...openings, '']);
  const chosen = pick(chance, DAYS);
  const isRelative = chosen === 'today' || chosen === 'tomorrow';
  const text = `${isRelative ? opening.replace(/ on$/, '') : opening} ${chosen}`.trim();
  const hour = ` at ${pick(chance, HOURS)} o'clock`;
  const time = chance() < 0.5 ? pick(chance, [hour, ' morning', ' afternoon']) : '';
  return `${capitalized(text)}${time}${/^(Can|Are)/.test(text) ? '?' : '.'}`;
}

function name(chance: Chance): string {
  const opening = pick(chance, ['My name is ', 'This is ', '']);
  return `${opening}${pick(chance, FIRST_NAMES)} ${pick(chance, LAST_NAMES)}.`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `NAME = "one two three".split()` */
function wordsNamed(list: string): string[] {
  return blockNamed(list, /= "(.*?)"\.split\(\)/).split(' ');
}

/** `NAME = """one⏎two""".split("\n")` */
function linesNamed(list: string): string[] {
  return blockNamed(list, /= """(.*?)"""\.split/s).split('\n');
}

function blockNamed(list: string, shape: RegExp): string {
  const found = new RegExp(`^${list} ${shape.source}`, `m${shape.flags}`).exec(SOURCE)?.[1];
  if (found === undefined) throw new RangeError(`Cannot find the list "${list}" in phrases.py`);
  return found;
}
