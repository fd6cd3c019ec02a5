/** `models.lock.json`, the checksums of downloaded files, and the lock that keeps two runs of the command apart. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../lib/private-tree.ts';
import { type FileLock, lockFile } from '../lib/process/file-lock.ts';
import { isSafePath } from './manifest.ts';
import { diskError, ModelsError } from './models-error.ts';

/** Name of the lock file, in the folder of models. */
export const LOCK_FILE = 'models.lock.json';

const entrySchema = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
  /** Source of the checksum: `manifest`, `bundle`, `nobody` (noted at the first download); `server` in older files. */
  trust: z.enum(['manifest', 'server', 'bundle', 'nobody']),
  /** Revision in the manifest at that time; the entry does not count for another revision. */
  revision: z.string(),
  url: z.string(),
  at: z.iso.datetime(),
});

const lockSchema = z.strictObject({
  version: z.literal(1),
  files: z.record(z.string().refine(isSafePath), entrySchema),
});

/** Record of one downloaded file. */
export type LockEntry = z.infer<typeof entrySchema>;

/** The lock file of one folder of models: entries by place below MODELS_DIR. */
export class ModelLock {
  readonly #modelsDir: string;
  readonly #files: Map<string, LockEntry>;

  private constructor(modelsDir: string, files: ReadonlyMap<string, LockEntry>) {
    this.#modelsDir = modelsDir;
    this.#files = new Map(files);
  }

  /** @throws {ModelsError} when it cannot be read: a damaged file must not make servers trusted again. */
  static async load(modelsDir: string): Promise<ModelLock> {
    const path = join(modelsDir, LOCK_FILE);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw unreadable(path, error);
    });
    return new ModelLock(modelsDir, text === null ? new Map() : parseLock(text, path));
  }

  get(place: string): LockEntry | undefined {
    return this.#files.get(place);
  }

  /** Notes a file; the lock file is on the disk when it returns. @throws {ModelsError} */
  note(place: string, entry: LockEntry): void {
    this.#files.set(place, entry);
    const path = join(this.#modelsDir, LOCK_FILE);
    try {
      writeFileSync(`${path}.new`, this.text([...this.#files.keys()]), { flush: true });
      renameSync(`${path}.new`, path);
      syncToDisk(this.#modelsDir);
    } catch (error) {
      throw diskError(error, path);
    }
  }

  /** The file's text with the entries of these places only. */
  text(places: readonly string[]): string {
    const known = places.filter((place) => this.#files.has(place)).sort();
    const files = Object.fromEntries(known.map((place) => [place, this.#files.get(place)]));
    return `${JSON.stringify({ version: 1, files }, null, 2)}\n`;
  }
}

/** @throws {ModelsError} naming where the text comes from and what is wrong in it. */
export function parseLock(text: string, from: string): Map<string, LockEntry> {
  try {
    return new Map(Object.entries(lockSchema.parse(JSON.parse(text)).files));
  } catch (error) {
    throw unreadable(from, error);
  }
}

function unreadable(path: string, error: unknown): ModelsError {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  return new ModelsError(
    'usage',
    `Cannot read "${path}", which holds the checksums of downloaded files: ${why}; restore it from a backup, or remove it to trust the servers again`,
    { cause: error },
  );
}

/** Makes a file's content durable, or the renames in a folder. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Locks a folder of models against a second run.
 *
 * @throws {ModelsError} `busy` when another run holds it, `disk` when the folder cannot be made.
 */
export function lockFolder(modelsDir: string): FileLock {
  const path = join(modelsDir, '.models.lock');
  try {
    makeFolder(modelsDir);
  } catch (error) {
    throw folderError(error, modelsDir);
  }
  const lock = lockOf(path);
  if (lock !== undefined) return lock;
  throw new ModelsError(
    'busy',
    `Cannot work on "${modelsDir}": another run of this command is at it; wait for it to end`,
  );
}

function folderError(cause: unknown, modelsDir: string): ModelsError {
  return new ModelsError('disk', `Cannot make "${modelsDir}": ${cause}; set MODELS_DIR`, { cause });
}

function lockOf(path: string): FileLock | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    throw diskError(error, path);
  }
}
