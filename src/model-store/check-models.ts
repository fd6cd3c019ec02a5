/** Runs of the models command that need no network: the list of models, and the check of their files. */
import { type Manifest, type Model, PROFILES } from './manifest.ts';
import { bytesMissing, type PlannedFile, planFiles, sizeOf, sumOfFile } from './model-files.ts';
import { ModelLock } from './model-lock.ts';
import { bytesText, type Screen } from './progress.ts';

interface Place {
  readonly modelsDir: string;
  readonly screen: Screen;
}

/** Lists all models, and whether they are there by the lengths of their files. @throws {ModelsError} */
export async function listRun(manifest: Manifest, { modelsDir, screen }: Place): Promise<void> {
  const lock = await ModelLock.load(modelsDir);
  const rows = manifest.models.map((model) => [
    model.id,
    model.kind,
    sizeText(model),
    model.licence.spdx,
    PROFILES.filter((profile) => manifest.profiles[profile]?.includes(model.id)).join(' ') || '-',
    model.kind === 'llm'
      ? 'kept by Ollama'
      : quickStateOf(planFiles([model], { modelsDir, lock, mirror: null })),
  ]);
  const table = [['ID', 'KIND', 'SIZE', 'LICENCE', 'PROFILES', 'STATE'], ...rows];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) =>
    row.map((cell, at) => cell.padEnd(widths?.[at] ?? 0)).join('  '),
  );
  screen.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
}

function quickStateOf(files: readonly PlannedFile[]): string {
  const there = files.filter(({ file, bytes }) => {
    const size = sizeOf(file);
    return size !== null && size === (bytes ?? size);
  });
  if (there.length === files.length) return 'there';
  return there.length === 0 ? 'not there' : 'partly';
}

/** `79.7 MB`, `about 2.6 GB`. */
function sizeText(model: Model): string {
  if (model.kind === 'llm') return `about ${bytesText(model.aboutBytes)}`;
  const isExact = model.files.every(({ bytes }) => bytes !== null);
  const bytes = model.files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return `${isExact ? '' : 'about '}${bytesText(bytes)}`;
}

/** `unknown`: the file is there, and no checksum is known. */
type FileState = 'right' | 'wrong' | 'missing' | 'unknown';

/** Reads every file of the models. @returns `wrong` for damaged files, before `missing`. @throws {ModelsError} */
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
  const counts = { right: 0, wrong: 0, missing: 0, unknown: 0 };
  for (const file of files) {
    const state = await stateOf(file, signal);
    counts[state] += 1;
    screen.write(`${words[state]}  ${file.place}\n`);
  }
  const { right, wrong, missing, unknown } = counts;
  const total = files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  screen.write(
    `${files.length} files, ${bytesText(total)}: ${right} right, ${wrong} damaged, ${missing} missing, ${unknown} without a known checksum.\n`,
  );
  if (right === files.length) return 'right';
  screen.write('Without --check the same command downloads what is missing or damaged.\n');
  return wrong > 0 ? 'wrong' : 'missing';
}

async function stateOf(
  { file, expected, bytes }: PlannedFile,
  signal: AbortSignal,
): Promise<FileState> {
  const size = sizeOf(file);
  if (size === null) return 'missing';
  if (expected === null) return 'unknown';
  if (size !== (bytes ?? size)) return 'wrong';
  const { isRight } = await sumOfFile(file, expected, signal);
  return isRight ? 'right' : 'wrong';
}

/** The announcement of a download: the licences, and how much is missing. */
export function announcement(
  models: readonly Model[],
  files: readonly PlannedFile[],
  { modelsDir, mirror }: { readonly modelsDir: string; readonly mirror: string | null },
): string {
  const from = mirror === null ? '' : ` from ${mirror}`;
  return [
    `Models for "${modelsDir}", and their licences:`,
    ...models.flatMap(({ name, licence, needs }) => [
      `  ${name}: ${licence.spdx} (${licence.statedAt})`,
      ...(licence.note === undefined ? [] : [`      ${licence.note}`]),
      ...(needs.length === 0 ? [] : [`      needs ${needs.join(', ')}`]),
    ]),
    files.length === 0
      ? 'No files to download.'
      : `${files.length} files, ${bytesText(bytesMissing(files))} to download${from}.`,
  ].join('\n');
}

/** The engine that uses a model, and the setting for that. */
export function useText(model: Model): string {
  if (model.kind === 'llm') return `OLLAMA_MODEL=${model.ollama} uses it`;
  return `engine "${model.engine}", from "${model.folder}"`;
}
