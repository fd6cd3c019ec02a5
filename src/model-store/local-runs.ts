/** Runs that need no network: what there is, and whether it is whole. */
import { checkFiles, quickStateOf } from './check-models.ts';
import type { Manifest, Model } from './manifest.ts';
import { ModelLock } from './model-lock.ts';
import { planFiles } from './plan.ts';
import type { Screen } from './progress.ts';
import { listLines } from './report.ts';
import { bytesText } from './wording.ts';

interface Place {
  readonly modelsDir: string;
  readonly screen: Screen;
}

/** Lists all models, and which are there as far as their sizes tell. */
export async function listRun(manifest: Manifest, { modelsDir, screen }: Place): Promise<void> {
  const lock = await ModelLock.load(modelsDir);
  const stateOf = (model: Model) => {
    if (model.kind === 'llm') return 'kept by Ollama';
    return quickStateOf(planFiles([model], { modelsDir, lock, mirror: null }));
  };
  screen.write(`${listLines(manifest, stateOf).join('\n')}\n`);
}

/** Reads every file of the models. @returns whether all are there, and what they should be. */
export async function checkRun(
  models: readonly Model[],
  { modelsDir, screen, signal }: Place & { readonly signal: AbortSignal },
): Promise<'right' | 'missing' | 'wrong'> {
  const lock = await ModelLock.load(modelsDir);
  const files = planFiles(models, { modelsDir, lock, mirror: null });
  const words = {
    right: screen.paint('green', 'ok'),
    wrong: screen.paint('red', 'damaged'),
    missing: screen.paint('yellow', 'missing'),
    unknown: screen.paint('yellow', 'unknown'),
  } as const;
  const checked = await checkFiles(files, {
    signal,
    onFile: ({ file, state }) => screen.write(`${words[state]}  ${file.place}\n`),
  });
  const count = (wanted: string) => checked.filter(({ state }) => state === wanted).length;
  const [wrong, missing, unknown] = [count('wrong'), count('missing'), count('unknown')];
  const total = files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  screen.write(
    `${files.length} files, ${bytesText(total)}: ${count('right')} as they should be, ${wrong} damaged, ${missing} missing, ${unknown} that nobody vouches for.\n`,
  );
  if (wrong + missing + unknown > 0) {
    screen.write('Without --check the same command downloads what is missing or damaged.\n');
  }
  if (wrong > 0) return 'wrong';
  return missing + unknown > 0 ? 'missing' : 'right';
}
