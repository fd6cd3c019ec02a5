/** Files of models on the disk: places, sources and checksums; the list of models, and the check of their files. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_PROFILES } from '../domain/model-downloads.ts';
import { type FilesModel, type Manifest, type Model, type ModelFile, placeOf } from './manifest.ts';
import { type LockEntry, ModelLock } from './model-lock.ts';
import { bytesText, type Screen } from './progress.ts';

/** The expected checksum and length of a file. */
export interface ExpectedSum {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Null when unknown. */
  readonly bytes: number | null;
}

/** A file of a model, ready to be downloaded or checked. */
export interface PlannedFile {
  readonly model: FilesModel;
  /** Path below MODELS_DIR, with `/`. */
  readonly place: string;
  /** Path on the disk. */
  readonly file: string;
  readonly url: string;
  /** Revision of the source, as the manifest pins it. */
  readonly revision: string;
  /** Checksum by the manifest or the lock file; null when neither states one. */
  readonly expected: ExpectedSum | null;
  /** Length by the manifest or the lock file; null when neither states it. */
  readonly bytes: number | null;
}

/** @param options.mirror a base address with all files laid out as in MODELS_DIR; null for each model's own source. */
export function planFiles(
  models: readonly Model[],
  options: {
    readonly modelsDir: string;
    readonly lock: ModelLock;
    readonly mirror: string | null;
  },
): readonly PlannedFile[] {
  return models.flatMap((model) => {
    if (model.kind === 'llm') return [];
    return model.files.map((file) => {
      const place = placeOf(model, file);
      const expected = expectedOf(model, file, options.lock.get(place));
      return {
        model,
        place,
        file: join(options.modelsDir, ...place.split('/')),
        url: urlOf(model, file, options.mirror),
        revision: model.revision,
        expected,
        bytes: expected?.bytes ?? file.bytes,
      };
    });
  });
}

function urlOf(model: FilesModel, file: ModelFile, mirror: string | null): string {
  const [base, path] =
    mirror === null
      ? [model.base, file.path]
      : [`${mirror.replace(/\/+$/, '')}/`, placeOf(model, file)];
  return `${base}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The checksum in the manifest, else the one noted for the same revision; null without either. */
function expectedOf(
  model: FilesModel,
  { sha256, bytes }: ModelFile,
  noted: LockEntry | undefined,
): ExpectedSum | null {
  if (sha256 !== null) return { sha256, bytes };
  return noted?.revision === model.revision ? noted : null;
}

/** Length of a file; null when it is missing. */
export function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/** The name of an unfinished download. */
export function partOf(file: string): string {
  return `${file}.part`;
}

/** Bytes of a file that are on the disk, finished or not. */
export function bytesThere({ file }: PlannedFile): number {
  return sizeOf(file) ?? sizeOf(partOf(file)) ?? 0;
}

/** Bytes that are not on the disk yet, of files whose length is known. */
export function bytesMissing(files: readonly PlannedFile[]): number {
  return files.reduce((sum, file) => sum + Math.max(0, (file.bytes ?? 0) - bytesThere(file)), 0);
}

/** The checksum of a file on the disk. */
export interface FileSum {
  readonly sha256: string;
  readonly bytes: number;
  /** Whether length and checksum are the expected ones; true where none is expected. */
  readonly isRight: boolean;
}

/** Reads a whole file. @throws {Error} of the file system, and the signal's reason. */
export async function sumOfFile(
  file: string,
  expected: ExpectedSum | null,
  signal: AbortSignal,
): Promise<FileSum> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const sha256 = hash.digest('hex');
  const isRight =
    expected === null || (sha256 === expected.sha256 && bytes === (expected.bytes ?? bytes));
  return { sha256, bytes, isRight };
}

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
    MODEL_PROFILES.filter((profile) => manifest.profiles[profile]?.includes(model.id)).join(' ') ||
      '-',
    model.kind === 'llm'
      ? 'kept by Ollama'
      : STATE_WORDS[quickStateOf(planFiles([model], { modelsDir, lock, mirror: null }))],
  ]);
  const table = [['ID', 'KIND', 'SIZE', 'LICENCE', 'PROFILES', 'STATE'], ...rows];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) =>
    row.map((cell, at) => cell.padEnd(widths?.[at] ?? 0)).join('  '),
  );
  screen.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
}

const STATE_WORDS = { there: 'there', partly: 'partly', not_there: 'not there' } as const;

/** Whether files are there, by their lengths. */
export function quickStateOf(files: readonly PlannedFile[]): 'there' | 'partly' | 'not_there' {
  const there = files.filter(({ file, bytes }) => {
    const size = sizeOf(file);
    return size !== null && size === (bytes ?? size);
  });
  if (there.length === files.length) return 'there';
  return there.length === 0 ? 'not_there' : 'partly';
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
  if (model.kind === 'gguf') return `engine "${model.engine}", where no Ollama answers`;
  if (model.kind === 'embedding') return 'KNOWLEDGE_EMBEDDINGS=onnx uses it';
  return `engine "${model.engine}", from "${model.folder}"`;
}
