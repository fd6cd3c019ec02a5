/** Times from a caller's last sound to the agent's first, counted in buckets, and their percentiles; pure */
import type { TimelineEntry } from '../call/call.ts';

/** The first bucket; less is counted as this much. */
const FIRST_MS = 50;

/** Each bucket is this much longer than the one before: a percentile is then off by 4 % at most. */
const GROWTH = 1.08;

/** The last one is that of a minute; more is counted there. */
const BUCKETS = 93;

/** Number of turns in each bucket, shortest times first. */
export type AnswerCounts = Uint32Array<ArrayBuffer>;

/** Percentiles of the answers that were heard. */
export interface AnswerTimes {
  /** Answers that were heard. */
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
export function countAnswers(answersMs: readonly number[]): AnswerCounts {
  const counts = new Uint32Array(BUCKETS);
  for (const answerMs of answersMs) {
    const steps = Math.log(Math.max(FIRST_MS, answerMs) / FIRST_MS) / Math.log(GROWTH);
    const bucket = Math.min(BUCKETS - 1, Math.round(steps));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** Adds counts up. */
export function sumOfCounts(all: readonly AnswerCounts[]): AnswerCounts {
  const sum = new Uint32Array(BUCKETS);
  for (const counts of all) {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      sum[bucket] = (sum[bucket] ?? 0) + (counts[bucket] ?? 0);
    }
  }
  return sum;
}

/** Percentiles by nearest rank. @returns null without a turn. */
export function percentilesOf(counts: AnswerCounts): AnswerTimes | null {
  const turns = counts.reduce((sum, count) => sum + count, 0);
  if (turns === 0) return null;
  const at = (share: number) => {
    const rank = Math.ceil(turns * share);
    let seen = 0;
    return middleMsOf(
      counts.findIndex((count) => {
        seen += count;
        return seen >= rank;
      }),
    );
  };
  return { turns, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Rounded to 10 ms: finer is not known. */
function middleMsOf(bucket: number): number {
  return Math.round((FIRST_MS * GROWTH ** bucket) / 10) * 10;
}
