/** Times from a caller's last sound to the agent's first, and of each engine in them, counted in buckets; pure */
import type { TimelineEntry } from '../call/call.ts';

/** Each bucket is this much longer than the one before: a percentile is then off by 4 % at most. */
const GROWTH = 1.08;

/** Which times a row of buckets is for. */
interface TimeScale {
  /** Time of the first bucket, in milliseconds; less is counted there. */
  readonly firstMs: number;
  /** The last bucket is for one minute; longer times are counted there. */
  readonly buckets: number;
}

/** Buckets for times of whole answers. */
export const ANSWER_SCALE: TimeScale = { firstMs: 50, buckets: 93 };

/** Buckets for the time of one engine in an answer. */
export const ENGINE_SCALE: TimeScale = { firstMs: 10, buckets: 114 };

/** Number of turns in each bucket, shortest times first. */
export type AnswerCounts = Uint32Array<ArrayBuffer>;

/** Percentiles of times to answer, or of the work of one engine on them. */
export interface AnswerTimes {
  /** Number of turns with such a time. */
  readonly turns: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Times to answer of the turns of a call, in milliseconds; turns whose answer was never heard have none. */
export function answerTimesOf(timeline: readonly TimelineEntry[]): readonly number[] {
  return timeline.flatMap(({ kind, details: { firstPacketMs } }) =>
    kind === 'turn' && typeof firstPacketMs === 'number' && Number.isFinite(firstPacketMs)
      ? [firstPacketMs]
      : [],
  );
}

/** Counts times by bucket. */
export function countTimes(timesMs: readonly number[], scale: TimeScale): AnswerCounts {
  const counts = new Uint32Array(scale.buckets);
  for (const timeMs of timesMs) {
    const steps = Math.log(Math.max(scale.firstMs, timeMs) / scale.firstMs) / Math.log(GROWTH);
    const bucket = Math.min(scale.buckets - 1, Math.round(steps));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** Adds up counts of one scale; empty without counts. */
export function sumOfCounts(all: readonly AnswerCounts[]): AnswerCounts {
  const sum = new Uint32Array(all[0]?.length ?? 0);
  for (const counts of all) {
    for (let bucket = 0; bucket < sum.length; bucket += 1) {
      sum[bucket] = (sum[bucket] ?? 0) + (counts[bucket] ?? 0);
    }
  }
  return sum;
}

/** Percentiles by nearest rank. @returns null without a turn. */
export function percentilesOf(counts: AnswerCounts, scale: TimeScale): AnswerTimes | null {
  const turns = counts.reduce((sum, count) => sum + count, 0);
  if (turns === 0) return null;
  const at = (share: number) => {
    const rank = Math.ceil(turns * share);
    let seen = 0;
    const bucket = counts.findIndex((count) => {
      seen += count;
      return seen >= rank;
    });
    // Rounded to 10 ms: finer is not known.
    return Math.round((scale.firstMs * GROWTH ** bucket) / 10) * 10;
  };
  return { turns, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Engines that callers wait for: recogniser, language model, voice. */
const ANSWER_ENGINES = ['recognition', 'model', 'voice'] as const;

/** An engine whose time is part of an answer. */
export type AnswerEngine = (typeof ANSWER_ENGINES)[number];

/** Turns by bucket of the time of each engine (`ENGINE_SCALE`). */
export type EngineCounts = Readonly<Record<AnswerEngine, AnswerCounts>>;

/** Percentiles of the time of each engine; null where it had no turn. */
export type EngineTimes = Readonly<Record<AnswerEngine, AnswerTimes | null>>;

/** The marks of a turn, each with the engine that it ends the work of; null is waiting and network. */
const MARKS = [
  ['endOfTurnMs', null],
  ['textFinalMs', 'recognition'],
  ['firstTokenMs', 'model'],
  ['firstClauseMs', 'model'],
  ['firstAudioMs', 'voice'],
  ['firstPacketMs', null],
] as const satisfies readonly (readonly [string, AnswerEngine | null])[];

/** Counts the times of each engine over the turns whose answer was heard. */
export function countEngines(timeline: readonly TimelineEntry[]): EngineCounts {
  const turns = timeline
    .filter(({ kind, details }) => kind === 'turn' && isTime(details.firstPacketMs))
    .map(({ details }) => engineTimesOf(details));
  const countsOf = (engine: AnswerEngine) =>
    countTimes(turns.map((times) => times.get(engine)).filter(isTime), ENGINE_SCALE);
  return {
    recognition: countsOf('recognition'),
    model: countsOf('model'),
    voice: countsOf('voice'),
  };
}

/**
 * Milliseconds that the caller waited for each engine after the last sound. By time and not by kind: an answer that was
 * begun before the end of the turn has its words before it, and the caller did not wait for them.
 */
function engineTimesOf(details: TimelineEntry['details']): ReadonlyMap<AnswerEngine, number> {
  const marks = MARKS.flatMap(([mark, engine]) => {
    const atMs = details[mark];
    return isTime(atMs) && atMs > 0 ? [{ engine, atMs }] : [];
  }).sort((one, other) => one.atMs - other.atMs);
  const times = new Map<AnswerEngine, number>();
  for (const [index, { engine, atMs }] of marks.entries()) {
    const tookMs = atMs - (marks[index - 1]?.atMs ?? 0);
    if (engine !== null) times.set(engine, (times.get(engine) ?? 0) + tookMs);
  }
  return times;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
