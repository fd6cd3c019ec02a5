/** Choice of a speech engine: the models to try for a job, and the report of the result. */

import type { Provider } from '../../lib/onnx/onnx-providers.ts';
import type { EngineReport } from '../hearing/hearing.ts';
import type { EngineOrder } from '../hearing/hearing-messages.ts';
import type { LoadOutcome, SpeechEngine } from './model-files.ts';

/** An operator's choice for one job. */
export interface EngineChoice {
  readonly job: 'vad' | 'stt' | 'turn';
  /** The setting: `auto`, an engine's name, or the name of `without`. */
  readonly setting: string;
  readonly engine: SpeechEngine;
  /** Engines that do the same job, tried after it, best first. */
  readonly others?: readonly SpeechEngine[];
  /** Compute threads of each process; default 1. */
  readonly threads?: number;
  /** ONNX Runtime's execution providers, best first; default: the CPU. */
  readonly providers?: readonly Provider[] | undefined;
  readonly modelsDir: string;
  /** The folder of the tiny models in the repository. */
  readonly tinyDir: string;
  /** The substitute without a model. */
  readonly without: 'energy' | 'none' | 'off';
  /** Whether the tiny model is never used for the job. */
  readonly isNeverTiny?: boolean;
}

/** The models to try, in order. */
export interface EnginePlan {
  readonly choice: EngineChoice;
  /** Engines by model. */
  readonly engineOf: ReadonlyMap<string, SpeechEngine>;
  readonly installed: readonly string[];
  readonly bundled: readonly string[];
  readonly tiny: readonly string[];
  /** Null without any model to try. */
  readonly order: EngineOrder | null;
}

/** Limits of the tiny models, for the log. */
const TINY_LIMITS: Readonly<Record<EngineChoice['job'], string>> = {
  vad: 'our own tiny model stands in, trained on synthetic voices only',
  stt: 'our own tiny model stands in, which knows a closed set of phrases only',
  turn: 'our own tiny model stands in, which is wrong one time in five: the words count for more',
};

/** Looks for models: those installed first, then our own tiny ones. */
export function planEngine(choice: EngineChoice): EnginePlan {
  const { setting, modelsDir, tinyDir, without } = choice;
  const nothing = {
    choice,
    engineOf: new Map(),
    installed: [],
    bundled: [],
    tiny: [],
    order: null,
  };
  if (setting === without) return nothing;
  const engines = enginesOf(choice);
  // A stand-in would hide the failure of an engine that was chosen by name.
  const mayBeTiny = setting === AUTO && choice.isNeverTiny !== true;
  const installed = engines.flatMap((engine) => engine.find(modelsDir));
  const bundled = engines.flatMap((engine) => engine.bundled?.() ?? []);
  const tiny = engines.flatMap((engine) => engine.find(tinyDir));
  const wanted =
    setting === AUTO || installed.length === 0 ? [...installed, ...bundled] : installed;
  // They are the same where MODELS_DIR is the folder of the tiny models.
  const models = [...new Set(mayBeTiny ? [...wanted, ...tiny] : wanted)];
  const [engine] = engines;
  if (engine === undefined || models.length === 0) return { ...nothing, installed, bundled, tiny };
  const engineOf = new Map(
    engines.flatMap((one) =>
      [...one.find(modelsDir), ...(one.bundled?.() ?? []), ...one.find(tinyDir)].map(
        (model) => [model, one] as const,
      ),
    ),
  );
  const order = { moduleUrl: engine.moduleUrl, models, ...extrasOf(engine, engineOf, choice) };
  return { choice, engineOf, installed, bundled, tiny, order };
}

/** Setting that chooses an engine by the installed models. */
const AUTO = 'auto';

function enginesOf({ setting, engine, others = [] }: EngineChoice): readonly SpeechEngine[] {
  const all = [engine, ...others];
  return setting === AUTO
    ? all.filter(({ isOnRequest }) => isOnRequest !== true)
    : all.filter(({ name }) => name === setting);
}

/** Parts of an order that differ from the default. */
function extrasOf(
  engine: SpeechEngine,
  engineOf: ReadonlyMap<string, SpeechEngine>,
  { threads, providers }: EngineChoice,
): Pick<EngineOrder, 'modules' | 'threads' | 'providers'> {
  const modules = [...engineOf]
    .filter(([, other]) => other !== engine)
    .map(([model, { moduleUrl }]) => [model, moduleUrl] as const);
  return {
    ...(modules.length > 0 && { modules: Object.fromEntries(modules) }),
    ...(threads !== undefined && { threads }),
    ...(providers !== undefined && { providers }),
  };
}

/**
 * Reports the engine in use, and the reason.
 *
 * @throws {Error} when an engine was asked for by name and none of its models could be loaded.
 */
export function reportOf(plan: EnginePlan, outcome: LoadOutcome): EngineReport {
  const { job, setting, without } = plan.choice;
  if (setting === without) {
    const reason = `${job.toUpperCase()}=${setting} was set`;
    return { job, engine: without, reason, isFallback: false, standIn: 'no_model' };
  }
  const instead = job === 'turn' && outcome.model === null ? ['the words alone tell its end'] : [];
  const isBundledUsed = outcome.model !== null && plan.bundled.includes(outcome.model);
  const absence = isBundledUsed ? [] : absenceOf(plan);
  const why = [...absence, ...outcome.failures, ...instead];
  if (outcome.model === null) {
    if (setting !== AUTO) throw new Error(why.join('; '));
    const reason = why.join('; ');
    const report = { job, engine: without, reason, isFallback: true } as const;
    return { ...report, standIn: 'no_model', ...replacementOf(plan, outcome) };
  }
  const isTiny = plan.tiny.includes(outcome.model);
  // The tiny voice activity detector is of a layout that needs no preparation.
  const isPlain = outcome.drawback === undefined || (isTiny && job === 'vad');
  const drawbacks = isPlain ? [] : [outcome.drawback];
  return {
    job,
    engine: plan.engineOf.get(outcome.model)?.name ?? plan.choice.engine.name,
    reason: [...why, originOf(plan, outcome.model), ...drawbacks].join('; '),
    isFallback: isTiny || outcome.failures.length > 0,
    ...(isTiny && { standIn: 'tiny_model' }),
    ...(!isTiny && outcome.failures.length > 0 && { standIn: 'second_choice' }),
    ...replacementOf(plan, outcome),
  };
}

function originOf({ choice, bundled, tiny }: EnginePlan, model: string): string {
  if (tiny.includes(model)) return TINY_LIMITS[choice.job];
  return bundled.includes(model) ? 'its model comes with Offhook' : `"${model}" is installed`;
}

function replacementOf({ choice }: EnginePlan, outcome: LoadOutcome) {
  if (outcome.failures.length === 0) return {};
  return { replacement: { engine: choice.engine.name, how: outcome.failures.join('; ') } };
}

function absenceOf({ choice, installed }: EnginePlan): readonly string[] {
  if (installed.length > 0) return [];
  const engines = enginesOf(choice);
  const names = engines.map(({ name }) => name).join(' or ');
  // Of several, the usual command fetches one.
  const [only, ...others] = engines;
  const command = (others.length === 0 ? only?.fetchCommand : undefined) ?? 'npm run models';
  return [`no ${names} model in "${choice.modelsDir}" ("${command}" downloads one)`];
}
