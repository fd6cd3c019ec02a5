/** Files of models on the disk: where each lies, its source, and its checksum. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FilesModel, type Model, type ModelFile, placeOf } from './manifest.ts';
import type { LockEntry, ModelLock } from './model-lock.ts';

/** The expected checksum and length of a file. */
export interface ExpectedSum {
  readonly algorithm: 'sha256' | 'git-sha1';
  /** Lower-case hexadecimal. */
  readonly hex: string;
  /** Null when unknown; always known for `git-sha1`, whose hash begins with it. */
  readonly bytes: number | null;
}

/** A file of a model, ready to be downloaded or checked. */
export interface PlannedFile {
  readonly model: FilesModel;
  /** Below MODELS_DIR, with `/`. */
  readonly place: string;
  /** Path on the disk. */
  readonly file: string;
  readonly url: string;
  /** Of the source, as the manifest pins it. */
  readonly revision: string;
  /** By the manifest or the lock file; null when neither states a checksum. */
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
export function expectedOf(
  model: FilesModel,
  { sha256, bytes }: ModelFile,
  noted: LockEntry | null,
): ExpectedSum | null {
  if (sha256 !== null) return { algorithm: 'sha256', hex: sha256, bytes };
  if (noted === null || noted.revision !== model.revision) return null;
  return { algorithm: 'sha256', hex: noted.sha256, bytes: noted.bytes };
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
  const git = createHash('sha1').update(`blob ${expected?.bytes}\0`);
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) {
    hash.update(chunk);
    if (expected?.algorithm === 'git-sha1') git.update(chunk);
    bytes += chunk.length;
  }
  const sha256 = hash.digest('hex');
  if (expected === null) return { sha256, bytes, isRight: true };
  const hex = expected.algorithm === 'sha256' ? sha256 : git.digest('hex');
  return { sha256, bytes, isRight: hex === expected.hex && bytes === (expected.bytes ?? bytes) };
}
