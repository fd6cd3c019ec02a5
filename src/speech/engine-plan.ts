/** Which models to try for a job, and how to tell what came of it. */
import type { EngineReport } from './hearing.ts';
import type { EngineOrder } from './hearing-messages.ts';
import type { LoadOutcome } from './recognizer-messages.ts';
import type { SpeechEngine } from './speech-engine.ts';

/** How an operator chose. */
export interface EngineChoice {
  readonly job: 'vad' | 'stt';
  /** The setting: `auto`, the engine's own name, or the name of the way to do without. */
  readonly setting: string;
  readonly engine: SpeechEngine;
  readonly modelsDir: string;
  /** Where our own tiny models lie. */
  readonly tinyDir: string;
  /** What does the job without a model. */
  readonly without: 'energy' | 'none';
}

export interface EnginePlan {
  readonly choice: EngineChoice;
  readonly installed: readonly string[];
  readonly tiny: readonly string[];
  /** Null when nothing is to be tried. */
  readonly order: EngineOrder | null;
}

/** What our own models are, for the one who reads the log. */
const TINY_LIMITS: Readonly<Record<EngineChoice['job'], string>> = {
  vad: 'our own tiny model stands in, trained on synthetic voices only',
  stt: 'our own tiny model stands in, which knows a closed set of phrases only',
};

/** Looks for models: those installed first, then our own tiny ones. */
export function planEngine(choice: EngineChoice): EnginePlan {
  if (choice.setting === choice.without) return { choice, installed: [], tiny: [], order: null };
  const installed = choice.engine.find(choice.modelsDir);
  const tiny = choice.engine.find(choice.tinyDir);
  // An engine asked for by name stands or falls with what is installed; a stand-in would hide the failure.
  const isNamed = choice.setting === choice.engine.name;
  const models = isNamed && installed.length > 0 ? installed : [...installed, ...tiny];
  const { moduleUrl } = choice.engine;
  return { choice, installed, tiny, order: models.length === 0 ? null : { moduleUrl, models } };
}

/**
 * Tells which engine does the job, and why.
 *
 * @throws {Error} when an engine was asked for by name and none of its models could be loaded.
 */
export function reportOf(plan: EnginePlan, outcome: LoadOutcome): EngineReport {
  const { job, setting, engine, without } = plan.choice;
  if (setting === without) {
    const reason = `${job.toUpperCase()}=${setting} was set`;
    return { job, engine: without, reason, isFallback: false };
  }
  const why = [...absenceOf(plan), ...outcome.failures];
  if (outcome.model === null) {
    if (setting === engine.name) throw new Error(why.join('; '));
    return { job, engine: without, reason: why.join('; '), isFallback: true };
  }
  const isTiny = plan.tiny.includes(outcome.model);
  const reason = isTiny ? TINY_LIMITS[job] : `"${outcome.model}" is installed`;
  return {
    job,
    engine: engine.name,
    reason: [...why, reason].join('; '),
    isFallback: isTiny || outcome.failures.length > 0,
  };
}

function absenceOf({ choice, installed }: EnginePlan): readonly string[] {
  if (installed.length > 0) return [];
  return [
    `no ${choice.engine.name} model in "${choice.modelsDir}" (models/README.md tells where one goes)`,
  ];
}
