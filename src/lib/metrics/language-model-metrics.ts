/** What language models were spared and what was done for them besides answering. */
import { Counter, type Registry } from 'prom-client';

/** `skipped`: the model was too busy to read ahead. */
export type WarmResult = 'done' | 'aborted' | 'failed' | 'skipped';

/** `cut`: the oldest part of a long call was left out without a summary. */
export type SummaryResult = 'done' | 'failed' | 'cut';

/** Where language models and those who keep their memory report. */
export interface LanguageModelCounts {
  /** What a call's requests begin with was read ahead of the first of them. */
  prefixWarmed(result: WarmResult): void;

  /** A model failed before its first word, and the next one was asked for the same answer. */
  fellBack(engine: string): void;

  /** The older part of a long call was summarised. */
  historySummarised(result: SummaryResult): void;
}

/** Counts that nobody reads. */
export const UNCOUNTED: LanguageModelCounts = {
  prefixWarmed: () => undefined,
  fellBack: () => undefined,
  historySummarised: () => undefined,
};

/** Adds the three families; engines are few, as they come from the settings. */
export function languageModelMetrics(registry: Registry): LanguageModelCounts {
  const registers = [registry];
  const warmed = new Counter({
    name: 'offhook_prefix_warmups_total',
    help: 'Prompts that a model was to read while the greeting played, by what came of it.',
    labelNames: ['result'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'offhook_model_fallbacks_total',
    help: 'Answers for which the next model was asked, by the one that failed.',
    labelNames: ['engine'],
    registers,
  });
  const summaries = new Counter({
    name: 'offhook_history_summaries_total',
    help: 'Summaries of the older part of long calls, by what came of them.',
    labelNames: ['result'],
    registers,
  });
  return {
    prefixWarmed: (result) => warmed.inc({ result }),
    fellBack: (engine) => fallbacks.inc({ engine }),
    historySummarised: (result) => summaries.inc({ result }),
  };
}
