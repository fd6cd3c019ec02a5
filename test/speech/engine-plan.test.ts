/** Which engine is chosen, and what is said about it. */
import { expect, test } from 'vitest';
import { type EngineChoice, planEngine, reportOf } from '../../src/speech/models/engine-plan.ts';

/** A choice of a recogniser with models in the folders given. */
function choiceOf(setting: string, folders: Readonly<Record<string, readonly string[]>>) {
  return {
    job: 'stt',
    setting,
    without: 'none',
    modelsDir: './models',
    tinyDir: 'tiny',
    engine: {
      name: 'whisper',
      moduleUrl: 'file:///whisper.ts',
      find: (dir: string) => folders[dir] ?? [],
    },
  } satisfies EngineChoice;
}

/** A choice between three engines, the last on request only. */
function choiceOfThree(setting: string): EngineChoice {
  const engine = (name: string, model: string, isOnRequest = false) => ({
    name,
    moduleUrl: `file:///${name}.ts`,
    isOnRequest,
    find: (dir: string) => (dir === './models' ? [model] : []),
  });
  return {
    ...choiceOf(setting, { tiny: ['tiny/whisper'] }),
    others: [engine('moonshine', 'stt/moon'), engine('transformers', 'stt/any', true)],
    threads: 2,
  };
}

test('planEngine tries all engines that are not on request, installed ones before tiny ones', () => {
  const plan = planEngine(choiceOfThree('auto'));

  expect(plan.order).toEqual({
    moduleUrl: 'file:///whisper.ts',
    models: ['stt/moon', 'tiny/whisper'],
    modules: { 'stt/moon': 'file:///moonshine.ts' },
    threads: 2,
  });
  const report = reportOf(plan, { model: 'stt/moon', failures: [] });
  expect(report).toMatchObject({ engine: 'moonshine', reason: '"stt/moon" is installed' });
});

test('planEngine tries an engine on request when it is asked for by name, and no other', () => {
  const plan = planEngine(choiceOfThree('transformers'));

  expect(plan.order).toMatchObject({ moduleUrl: 'file:///transformers.ts', models: ['stt/any'] });
});

test('reportOf tells the command that fetches a model, where the usual one does not', () => {
  const choice = choiceOf('whisper', {});
  const engine = { ...choice.engine, fetchCommand: 'npm run models -- --only whisper-base' };
  const plan = planEngine({ ...choice, engine });

  expect(() => reportOf(plan, { model: null, failures: [] })).toThrow(
    'no whisper model in "./models" ("npm run models -- --only whisper-base" downloads one)',
  );
});

test('reportOf names all engines that were looked for', () => {
  const choice = { ...choiceOfThree('auto'), modelsDir: './empty', tinyDir: './empty' };

  const { reason } = reportOf(planEngine(choice), { model: null, failures: [] });

  expect(reason).toContain('no whisper or moonshine model in "./empty"');
});

const BOTH = { './models': ['models/whisper-base'], tiny: ['tiny/whisper'] };
const DAMAGED = 'Cannot load the speech model "models/whisper-base": the file is damaged';

test('planEngine tries installed models before our own tiny ones', () => {
  const plan = planEngine(choiceOf('auto', BOTH));

  expect(plan.order?.models).toEqual(['models/whisper-base', 'tiny/whisper']);
});

test('planEngine tries no stand-in for an engine that was asked for by name', () => {
  const plan = planEngine(choiceOf('whisper', BOTH));

  expect(plan.order?.models).toEqual(['models/whisper-base']);
});

test('planEngine tries nothing for an engine asked for by name that is not installed', () => {
  expect(planEngine(choiceOf('whisper', { tiny: ['tiny/whisper'] })).order).toBeNull();
});

test('planEngine never has our own tiny model stand in where the job is better left undone', () => {
  const choice = { ...choiceOf('auto', { tiny: ['tiny/whisper'] }), isNeverTiny: true };

  expect(planEngine(choice).order).toBeNull();
});

test('planEngine knows our own tiny model where its folder was named as that of the models', () => {
  const plan = planEngine({
    ...choiceOf('whisper', { tiny: ['tiny/whisper'] }),
    modelsDir: 'tiny',
  });

  expect(plan.order?.models).toEqual(['tiny/whisper']);
  expect(reportOf(plan, { model: 'tiny/whisper', failures: [] })).toMatchObject({
    isFallback: true,
    reason: 'our own tiny model stands in, which knows a closed set of phrases only',
  });
});

test('planEngine tries nothing where nothing is wanted', () => {
  expect(planEngine(choiceOf('none', BOTH)).order).toBeNull();
});

test.each([
  {
    what: 'an installed model',
    setting: 'auto',
    folders: BOTH,
    outcome: { model: 'models/whisper-base', failures: [] },
    report: { engine: 'whisper', isFallback: false, reason: '"models/whisper-base" is installed' },
  },
  {
    what: 'the tiny model where none is installed',
    setting: 'auto',
    folders: { tiny: ['tiny/whisper'] },
    outcome: { model: 'tiny/whisper', failures: [] },
    report: {
      engine: 'whisper',
      isFallback: true,
      standIn: 'tiny_model',
      reason:
        'no whisper model in "./models" ("npm run models" downloads one); our own tiny model stands in, which knows a closed set of phrases only',
    },
  },
  {
    what: 'the tiny model where the installed one is damaged',
    setting: 'auto',
    folders: BOTH,
    outcome: { model: 'tiny/whisper', failures: [DAMAGED] },
    report: {
      engine: 'whisper',
      isFallback: true,
      standIn: 'tiny_model',
      replacement: { engine: 'whisper', how: DAMAGED },
      reason: `${DAMAGED}; our own tiny model stands in, which knows a closed set of phrases only`,
    },
  },
  {
    what: 'the next installed model where the best is damaged',
    setting: 'auto',
    folders: BOTH,
    outcome: { model: 'models/whisper-base', failures: [DAMAGED] },
    report: {
      engine: 'whisper',
      isFallback: true,
      standIn: 'second_choice',
      replacement: { engine: 'whisper', how: DAMAGED },
      reason: `${DAMAGED}; "models/whisper-base" is installed`,
    },
  },
  {
    what: 'what the model does worse than it could',
    setting: 'auto',
    folders: BOTH,
    outcome: { model: 'models/whisper-base', failures: [], drawback: 'it is slow' },
    report: {
      engine: 'whisper',
      isFallback: false,
      reason: '"models/whisper-base" is installed; it is slow',
    },
  },
  {
    what: 'no model at all',
    setting: 'auto',
    folders: {},
    outcome: { model: null, failures: [] },
    report: {
      engine: 'none',
      isFallback: true,
      standIn: 'no_model',
      reason: 'no whisper model in "./models" ("npm run models" downloads one)',
    },
  },
  {
    what: 'an operator who wants none',
    setting: 'none',
    folders: BOTH,
    outcome: { model: null, failures: [] },
    report: {
      engine: 'none',
      isFallback: false,
      standIn: 'no_model',
      reason: 'STT=none was set',
    },
  },
])('reportOf tells of $what', ({ setting, folders, outcome, report }) => {
  const plan = planEngine(choiceOf(setting, folders));

  expect(reportOf(plan, outcome)).toEqual({ job: 'stt', ...report });
});

test.each([
  {
    what: 'is not installed, whatever could stand in',
    folders: { tiny: ['tiny/whisper'] },
    failures: [],
    message: 'no whisper model in "./models" ("npm run models" downloads one)',
  },
  { what: 'is damaged', folders: BOTH, failures: [DAMAGED], message: DAMAGED },
])('reportOf throws when an engine asked for by name $what', ({ folders, failures, message }) => {
  const plan = planEngine(choiceOf('whisper', folders));

  expect(() => reportOf(plan, { model: null, failures })).toThrow(message);
});
