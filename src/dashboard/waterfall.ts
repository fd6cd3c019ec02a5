/** Where the time of each turn went, as bars on the call's own time line; pure */
import type { TimelineEntry } from './api-types.ts';

/**
 * The marks of a turn, each with the name of the span that it ends and its colour. The model takes from the first token to
 * the first clause: no voice begins before.
 */
const MARKS = [
  ['endOfTurnMs', 'endOfTurn', '#6b7f86'],
  ['textFinalMs', 'textFinal', '#3d7ea6'],
  ['firstTokenMs', 'firstToken', '#7a5ea8'],
  ['firstClauseMs', 'firstToken', '#7a5ea8'],
  ['firstAudioMs', 'firstAudio', '#c27a2c'],
  ['firstPacketMs', 'firstPacket', '#3f8f5b'],
] as const;

export type SpanName = (typeof MARKS)[number][1];

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

export interface Span {
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

/** By time and not by kind: an answer that was begun ahead has its words before the end of the turn. */
function spansOf(details: TimelineEntry['details']): Span[] {
  const marks = MARKS.flatMap(([mark, name, color]) => {
    const toMs = numberOf(details[mark]);
    return toMs === null || toMs <= 0 ? [] : [{ name, color, toMs }];
  }).sort((one, other) => one.toMs - other.toMs);
  return marks.map((mark, index) => ({ ...mark, fromMs: marks[index - 1]?.toMs ?? 0 }));
}

export interface AnswerFigures {
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
 * Which entry is being heard at `atMs`: the last that has begun; -1 before the first. They need not stand in the order in
 * which they began: words that were talked over are written down after those that talked over them.
 */
export function currentEntry(startsMs: readonly number[], atMs: number): number {
  return startsMs.reduce((current, startMs, index) => {
    if (startMs > atMs) return current;
    return startMs >= (startsMs[current] ?? Number.NEGATIVE_INFINITY) ? index : current;
  }, -1);
}
