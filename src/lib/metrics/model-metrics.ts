/** Metrics of models: recognition, language model, synthesis, call analysis; and the recent and best durations of their runs. */

import type { Clock } from '../clock.ts';
import type { MetricFamilies } from './metric-families.ts';

/** Source of an analysis: a language model, the word list, or none, because the call had no words. */
export type AnalysisResult = 'model' | 'lexicon' | 'empty';

/** The analyses' part of the server's metrics. */
export function analysisMetrics(families: MetricFamilies) {
  let readWaiting: () => Promise<number> = async () => 0;
  const total = families.counter('offhook_analysis_total', 'Calls analysed, by who found it out.', [
    'result',
  ]);
  for (const result of ['model', 'lexicon', 'empty']) total.inc({ result }, 0);
  const seconds = families.histogram(
    'offhook_analysis_seconds',
    "From a call's end to its analysis.",
    [0.1, 0.5, 1, 2, 5, 8, 15, 30, 60],
  );
  families.readGauge(
    'offhook_analysis_waiting',
    'Ended calls whose analysis is still to be made.',
    () => readWaiting(),
  );
  return {
    /** @param sinceEndMs from the call's end; large for calls that a process before this one left. */
    analysed: (result: AnalysisResult, sinceEndMs: number): void => {
      total.inc({ result });
      seconds.observe(Math.max(0, sinceEndMs) / 1000);
    },
    /** Gives how many calls wait, asked at every scrape; `read` may fail. */
    watchWaiting: (read: () => Promise<number>): void => {
      readWaiting = read;
    },
  };
}

/** `skipped`: the model was too busy to read ahead. */
export type WarmResult = 'done' | 'aborted' | 'failed' | 'skipped';

/** `cut`: the oldest part of a long call was left out without a summary. */
type SummaryResult = 'done' | 'failed' | 'cut';

/** Counters of language models: read-ahead, fallbacks and summaries. */
export interface LanguageModelCounts {
  /** The common beginning of a call's requests was read ahead of the first of them. */
  prefixWarmed(result: WarmResult): void;

  /** A model failed before its first word, and the next one was asked for the same answer. */
  fellBack(engine: string): void;

  /** The older part of a long call was summarised. */
  historySummarised(result: SummaryResult): void;
}

/** Counters that discard. */
export const UNCOUNTED: LanguageModelCounts & KnowledgeCounts = {
  prefixWarmed: () => undefined,
  fellBack: () => undefined,
  historySummarised: () => undefined,
  lookedUp: () => undefined,
  embedded: () => undefined,
};

/** Adds the three families. `engine` has few values: the models of the settings, and those that agents name. */
export function languageModelMetrics(families: MetricFamilies): LanguageModelCounts {
  const warmed = families.counter(
    'offhook_prefix_warmups_total',
    'Prompts that a model was to read while the greeting played, by what came of it.',
    ['result'],
  );
  const fallbacks = families.counter(
    'offhook_model_fallbacks_total',
    'Answers for which the next model was asked, by the one that failed.',
    ['engine'],
  );
  const summaries = families.counter(
    'offhook_history_summaries_total',
    'Summaries of the older part of long calls, by what came of them.',
    ['result'],
  );
  return {
    prefixWarmed: (result) => warmed.inc({ result }),
    fellBack: (engine) => fallbacks.inc({ engine }),
    historySummarised: (result) => summaries.inc({ result }),
  };
}

/** `none`: no passage shares a word with the question. `late`: the answer did not wait for it. */
export type LookupResult = 'found' | 'none' | 'late' | 'failed';

/** Result of embedding a question. */
export type EmbeddingResult = 'used' | 'late' | 'failed';

/** Counters of look-ups in agents' documents. */
export interface KnowledgeCounts {
  lookedUp(result: LookupResult, tookMs: number): void;

  /** A question was to be embedded; where that was late or failed, its words alone were looked for. */
  embedded(result: EmbeddingResult): void;
}

/** Adds the three families. */
export function knowledgeMetrics(families: MetricFamilies): KnowledgeCounts {
  const total = families.counter(
    'offhook_knowledge_lookups_total',
    "Look-ups of callers' words in the agent's documents, by what came of them.",
    ['result'],
  );
  for (const result of ['found', 'none', 'late', 'failed']) total.inc({ result }, 0);
  const seconds = families.histogram(
    'offhook_knowledge_lookup_seconds',
    'How long answers waited for them.',
    [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1],
  );
  const embeddings = families.counter(
    'offhook_knowledge_embeddings_total',
    'Questions that the embedding model was given, by what came of it.',
    ['result'],
  );
  for (const result of ['used', 'late', 'failed']) embeddings.inc({ result }, 0);
  return {
    embedded: (result) => embeddings.inc({ result }),
    lookedUp: (result, tookMs) => {
      total.inc({ result });
      seconds.observe(tookMs / 1000);
    },
  };
}

/** Metrics of speech servers on the network. Addresses come from the settings, so they are few. */
export interface SpeechServerCounts {
  isUp(job: 'stt' | 'tts', address: string, isUp: boolean): void;
  /** @param tookMs until the text or the first sound; null where the request failed. */
  asked(job: 'stt' | 'tts', address: string, tookMs: number | null): void;
  /** The local engine took a request over. */
  fellBack(job: 'stt' | 'tts'): void;
}

/** Adds the four families. */
export function speechServerMetrics(families: MetricFamilies): SpeechServerCounts {
  const labels = ['job', 'server'] as const;
  const up = families.gauge(
    'offhook_speech_server_up',
    'Whether a speech server works: 1, or 0.',
    labels,
  );
  const seconds = families.histogram(
    'offhook_speech_server_seconds',
    'From the request to the text or the first sound, by server.',
    [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6],
    labels,
  );
  const failures = families.counter(
    'offhook_speech_server_failures_total',
    'Requests that a speech server did not answer.',
    labels,
  );
  const fallbacks = families.counter(
    'offhook_speech_server_fallbacks_total',
    'Requests that the local engine took over from the speech servers.',
    ['job'],
  );
  return {
    isUp: (job, server, isUp) => up.set({ job, server }, isUp ? 1 : 0),
    asked: (job, server, tookMs) => {
      if (tookMs === null) failures.inc({ job, server });
      else seconds.observe({ job, server }, tookMs / 1000);
    },
    fellBack: (job) => fallbacks.inc({ job }),
  };
}

/** Recognition to its text, the language model to its first word, synthesis to its first sound. */
type ModelJob = 'stt' | 'llm' | 'tts';

/** Answer times and failures of models. */
export interface ModelTimes {
  /** @param tookMs until the first thing that can be used. */
  answered(job: ModelJob, engine: string, tookMs: number): void;

  failed(job: ModelJob, engine: string): void;
}

/** Adds the two families; engines are few, as they come from the settings. */
export function modelMetrics(families: MetricFamilies): ModelTimes {
  const seconds = families.histogram(
    'offhook_model_seconds',
    'From the request to what can be used first: text, first word, first sound.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12],
    ['job', 'engine'],
  );
  const failures = families.counter(
    'offhook_model_failures_total',
    'Requests that a model did not answer.',
    ['job', 'engine'],
  );
  return {
    answered: (job, engine, tookMs) => seconds.observe({ job, engine }, tookMs / 1000),
    failed: (job, engine) => failures.inc({ job, engine }),
  };
}

/** Older answers do not show the present load. */
const RECENT_MS = 10_000;

/** Number of times whose median counts, so that one long utterance is no overload. */
const ANSWERS_MIN = 5;

/** Kept for each job; more do not come in ten seconds of overload. */
const ANSWERS_MAX = 256;

interface Answers {
  readonly kept: { readonly atMs: number; readonly tookMs: number }[];
  quickestMs: number | null;
}

/** The newest durations by engine, in memory. */
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
