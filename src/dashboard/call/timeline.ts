/** Timeline of a call: time of each turn by stage, notes between the words, details as text; pure */
import type { TimelineEntry, TranscriptEntry } from '../api-types.ts';
import type { formatsOf } from '../format.ts';
import { type Language, sentenceText, wordOf } from '../text/text.ts';

/**
 * The marks of a turn, each with the name of the span that it ends and its colour. The model takes from the first token to
 * the first clause: no voice begins before.
 */
const MARKS = [
  ['endOfTurnMs', 'endOfTurn', '#6b7f86'],
  ['textFinalMs', 'textFinal', 'var(--recognition)'],
  ['firstTokenMs', 'firstToken', 'var(--model)'],
  ['firstClauseMs', 'firstToken', 'var(--model)'],
  ['firstAudioMs', 'firstAudio', 'var(--voice)'],
  ['firstPacketMs', 'firstPacket', '#3f8f5b'],
] as const;

type SpanName = (typeof MARKS)[number][1];

/** In the order in which they usually come. */
const ORDER: readonly SpanName[] = [
  'textFinal',
  'endOfTurn',
  'firstToken',
  'firstAudio',
  'firstPacket',
];

const COLORS: ReadonlyMap<SpanName, string> = new Map(
  MARKS.map(([, name, color]) => [name, color]),
);

export const SPANS: readonly (readonly [name: SpanName, color: string])[] = ORDER.map((name) => [
  name,
  COLORS.get(name) ?? '',
]);

interface Span {
  readonly name: SpanName;
  readonly color: string;
  /** Milliseconds after the caller's last voiced frame. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TurnBars {
  readonly turn: number;
  /** The caller's last voiced frame, in milliseconds after the call's beginning. */
  readonly atMs: number;
  readonly spans: readonly Span[];
  /** From the caller's last word to the agent's first sound; null when none was heard. */
  readonly answerMs: number | null;
  readonly bargeInMs: number | null;
  readonly isSpeculated: boolean;
}

/** @param originMs the call's beginning, since the epoch. */
export function waterfallOf(entries: readonly TimelineEntry[], originMs: number): TurnBars[] {
  return entries.filter(({ kind }) => kind === 'turn').map((entry) => turnBars(entry, originMs));
}

function turnBars({ timestamp, details }: TimelineEntry, originMs: number): TurnBars {
  const spans = spansOf(details);
  const lastMs = spans.at(-1)?.toMs ?? 0;
  return {
    turn: numberOf(details.turn) ?? 0,
    // A turn is reported as its answer begins to be heard; one that was given up unheard stands as much too late as that took.
    atMs: Math.max(0, Date.parse(timestamp) - originMs - lastMs),
    spans,
    answerMs: numberOf(details.firstPacketMs),
    bargeInMs: numberOf(details.bargeInMs),
    isSpeculated: details.speculated === true,
  };
}

/** Spans of a turn by time and not by kind: a speculative answer has its words before the end of the turn. */
function spansOf(details: TimelineEntry['details']): Span[] {
  const marks = MARKS.flatMap(([mark, name, color]) => {
    const toMs = numberOf(details[mark]);
    return toMs === null || toMs <= 0 ? [] : [{ name, color, toMs }];
  }).sort((one, other) => one.toMs - other.toMs);
  return marks.map((mark, index) => ({ ...mark, fromMs: marks[index - 1]?.toMs ?? 0 }));
}

interface AnswerFigures {
  readonly medianMs: number;
  readonly worst: TurnBars & { readonly answerMs: number };
}

/** The median of the times to answer, and the turn with the longest; undefined where no answer was heard. */
export function answerFigures(turns: readonly TurnBars[]): AnswerFigures | undefined {
  const heard = turns
    .flatMap((turn) => (turn.answerMs === null ? [] : [{ ...turn, answerMs: turn.answerMs }]))
    .sort((one, other) => one.answerMs - other.answerMs);
  const [low, high] = [heard[(heard.length - 1) >> 1], heard[heard.length >> 1]];
  const worst = heard.at(-1);
  if (low === undefined || high === undefined || worst === undefined) return undefined;
  return { medianMs: (low.answerMs + high.answerMs) / 2, worst };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A round step so that about `steps` of them fill `spanMs`. */
export function tickStepMs(spanMs: number, steps: number): number {
  const rough = Math.max(1, spanMs / steps);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10;
  return nice * unit;
}

/**
 * Index of the entry that is heard at `atMs`: the last that has begun; -1 before the first. Entries are not always in the order
 * of their beginnings: words that were interrupted are written down after those that interrupted them.
 */
export function currentEntry(startsMs: readonly number[], atMs: number): number {
  return startsMs.reduce((current, startMs, index) => {
    if (startMs > atMs) return current;
    return startMs >= (startsMs[current] ?? Number.NEGATIVE_INFINITY) ? index : current;
  }, -1);
}

export interface TranscriptNotes {
  /** Milliseconds from the caller's last word to the agent's first sound, by the place of the entry that answers. */
  readonly answersMs: ReadonlyMap<number, number>;
  /** Events before the entry at a place; the number of entries is the place behind the last. */
  readonly events: ReadonlyMap<number, readonly TimelineEntry[]>;
}

const KINDS =
  'tool barge_in transfer transfer_failed far_end_transfer three_way three_way_ended bridge_ended'.split(
    ' ',
  );

/** A turn is reported as its answer begins to be heard, give or take this much. */
const APART_MS_MAX = 1000;

export function notesOf(
  words: readonly TranscriptEntry[],
  timeline: readonly TimelineEntry[],
): TranscriptNotes {
  const answersMs = new Map<number, number>();
  const events = new Map<number, TimelineEntry[]>();
  for (const entry of timeline) {
    const answerMs = entry.details.firstPacketMs;
    if (entry.kind === 'turn' && typeof answerMs === 'number') {
      const index = answeredAt(words, Date.parse(entry.timestamp));
      if (index !== undefined) answersMs.set(index, answerMs);
    }
    if (!KINDS.includes(entry.kind)) continue;
    const place = placeOf(words, Date.parse(entry.timestamp));
    events.set(place, [...(events.get(place) ?? []), entry]);
  }
  return { answersMs, events };
}

/** The agent's entry that begins nearest to an instant. */
function answeredAt(words: readonly TranscriptEntry[], atMs: number): number | undefined {
  const near = words
    .map(({ role, timestamp }, index) => ({
      role,
      index,
      apartMs: Math.abs(Date.parse(timestamp) - atMs),
    }))
    .filter(({ role, apartMs }) => role === 'agent' && apartMs <= APART_MS_MAX)
    .sort((one, other) => one.apartMs - other.apartMs);
  return near[0]?.index;
}

/** Index of the first entry that begins later; the number of entries where none does. */
function placeOf(words: readonly TranscriptEntry[], atMs: number): number {
  const index = words.findIndex(({ timestamp }) => Date.parse(timestamp) > atMs);
  return index === -1 ? words.length : index;
}

/** The words as plain text, a line each, to be copied. @param nameOf says who spoke. */
export function transcriptText(
  words: readonly TranscriptEntry[],
  nameOf: (role: TranscriptEntry['role']) => string,
): string {
  return words.map(({ role, text }) => `${nameOf(role)}: ${text}`).join('\n');
}

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

/** Location of a passage that the language model was given. */
interface PassageSource {
  readonly document: string;
  readonly version: number;
  readonly passage: number;
}

/** How the page writes: its language, and how it formats numbers and instants. */
interface Writing {
  readonly language: Language;
  readonly formats: ReturnType<typeof formatsOf>;
}

/** The details in one line; a name without a text is shown as the server writes it. False and null values are left out. */
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
