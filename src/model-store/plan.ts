/** Which files a choice of models needs, and where each comes from; pure but for asking the disk how large a file is. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileJob } from './download-file.ts';
import { type FilesModel, type Model, type ModelFile, placeOf } from './manifest.ts';
import { expectedOf, type ModelLock } from './model-lock.ts';
import { partOf } from './part-file.ts';

/** A file of a model, ready to be downloaded or checked. */
export interface PlannedFile extends FileJob {
  readonly model: FilesModel;
  /** Below MODELS_DIR, with `/`. */
  readonly place: string;
  /** As the manifest or the lock file says; null when neither does. */
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
  return models
    .filter((model) => model.kind !== 'llm')
    .flatMap((model) => model.files.map((file) => planFile(model, file, options)));
}

function planFile(
  model: FilesModel,
  file: ModelFile,
  options: Parameters<typeof planFiles>[1],
): PlannedFile {
  const place = placeOf(model, file);
  const expected = expectedOf(model, file, options.lock.get(place));
  return {
    model,
    place,
    label: place,
    file: join(options.modelsDir, ...place.split('/')),
    url: urlOf(model, file, options.mirror),
    revision: model.revision,
    expected,
    bytes: expected?.bytes ?? file.bytes,
  };
}

function urlOf(model: FilesModel, file: ModelFile, mirror: string | null): string {
  const [base, path] =
    mirror === null
      ? [model.base, file.path]
      : [`${mirror.replace(/\/+$/, '')}/`, placeOf(model, file)];
  return `${base}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** How much of a file is on the disk already, finished or not. */
export function bytesThere({ file }: FileJob): number {
  return sizeOf(file) ?? sizeOf(partOf(file)) ?? 0;
}

/** Null when it is not there. */
export function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}
