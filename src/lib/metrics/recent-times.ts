/** Recent and best durations of model runs, on their way to the metrics. */
import type { Clock } from '../clock.ts';
import type { ModelJob, ModelTimes } from './model-metrics.ts';

/** Older answers say nothing about now. */
const RECENT_MS = 10_000;

/** Number of times whose median counts, so that one long utterance is no overload. */
const ANSWERS_MIN = 5;

/** Kept for each job; more do not come in ten seconds of overload. */
const ANSWERS_MAX = 256;

interface Answers {
  readonly kept: { readonly atMs: number; readonly tookMs: number }[];
  quickestMs: number | null;
}

export class RecentTimes implements ModelTimes {
  readonly #times: ModelTimes;
  readonly #clock: Clock;
  readonly #answers = new Map<ModelJob, Answers>();

  constructor(options: { readonly times: ModelTimes; readonly clock: Clock }) {
    this.#times = options.times;
    this.#clock = options.clock;
  }

  answered(job: ModelJob, engine: string, tookMs: number): void {
    this.#times.answered(job, engine, tookMs);
    const answers = this.#answers.get(job) ?? { kept: [], quickestMs: null };
    this.#answers.set(job, answers);
    answers.kept.push({ atMs: this.#clock.nowMs(), tookMs });
    if (answers.kept.length > ANSWERS_MAX) answers.kept.shift();
    const middle = middleOf(answers.kept.slice(-ANSWERS_MIN));
    if (middle !== null) answers.quickestMs = Math.min(answers.quickestMs ?? middle, middle);
  }

  failed(job: ModelJob, engine: string): void {
    this.#times.failed(job, engine);
  }

  /** The middle of the last ten seconds; null where there were too few answers to say. */
  recentMs(job: ModelJob): number | null {
    const sinceMs = this.#clock.nowMs() - RECENT_MS;
    const { kept = [] } = this.#answers.get(job) ?? {};
    return middleOf(kept.filter(({ atMs }) => atMs > sinceMs));
  }

  /** The least middle of five answers in a row since the start. */
  quickestMs(job: ModelJob): number | null {
    return this.#answers.get(job)?.quickestMs ?? null;
  }
}

function middleOf(answers: Answers['kept']): number | null {
  if (answers.length < ANSWERS_MIN) return null;
  const sorted = answers.map(({ tookMs }) => tookMs).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
