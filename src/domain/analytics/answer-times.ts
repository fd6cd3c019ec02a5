/** Times from a caller's last sound to the agent's first, counted in buckets, and their percentiles; pure */
import type { TimelineEntry } from '../call/call.ts';

/** Each bucket is this much longer than the one before: a percentile is then off by 4 % at most. */
const GROWTH = 1.08;

/** Which times a row of buckets is for. */
interface TimeScale {
  /** Of the first bucket; less is counted there. */
  readonly firstMs: number;
  /** The last one is that of a minute; more is counted there. */
  readonly buckets: number;
}

/** Of whole answers. */
export const ANSWER_SCALE: TimeScale = { firstMs: 50, buckets: 93 };

/** Of the work of one engine on an answer. */
export const ENGINE_SCALE: TimeScale = { firstMs: 10, buckets: 114 };

/** Number of turns in each bucket, shortest times first. */
export type AnswerCounts = Uint32Array<ArrayBuffer>;

/** Percentiles of times to answer, or of the work of one engine on them. */
export interface AnswerTimes {
  /** Turns that have such a time. */
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

/** Adds counts of one scale up; those of nothing are empty. */
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
