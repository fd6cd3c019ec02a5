/** What was downloaded, with its checksums: `models.lock.json` in MODELS_DIR. A file that nobody vouched for is held to it ever after. */
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ExpectedSum } from './file-sum.ts';
import type { Model, ModelFile } from './manifest.ts';
import { diskError, ModelsError } from './models-error.ts';
import { syncFolder } from './part-file.ts';
import { isSafePath } from './safe-path.ts';

export const LOCK_FILE = 'models.lock.json';

const entrySchema = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
  /** Who vouched for it: `manifest`, `server` (at the first download), `bundle`, `nobody`. */
  trust: z.enum(['manifest', 'server', 'bundle', 'nobody']),
  /** Of the manifest at that time: of another revision nothing is known. */
  revision: z.string(),
  url: z.string(),
  at: z.iso.datetime(),
});

const lockSchema = z.strictObject({
  version: z.literal(1),
  files: z.record(z.string().refine(isSafePath), entrySchema),
});

export type LockEntry = z.infer<typeof entrySchema>;

/** The places of files below MODELS_DIR, and what is known of each. */
export class ModelLock {
  readonly #modelsDir: string;
  readonly #files: Map<string, LockEntry>;
  /** One write at a time. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(modelsDir: string, files: ReadonlyMap<string, LockEntry>) {
    this.#modelsDir = modelsDir;
    this.#files = new Map(files);
  }

  /** @throws {ModelsError} when it cannot be read: nothing must be trusted anew because of that. */
  static async load(modelsDir: string): Promise<ModelLock> {
    const path = join(modelsDir, LOCK_FILE);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw unreadable(path, error);
    });
    return new ModelLock(modelsDir, text === null ? new Map() : parseLock(text, path));
  }

  get(place: string): LockEntry | null {
    return this.#files.get(place) ?? null;
  }

  /** Notes files, and has that on the disk when it returns. @throws {ModelsError} */
  async note(entries: Readonly<Record<string, LockEntry>>): Promise<void> {
    for (const [place, entry] of Object.entries(entries)) this.#files.set(place, entry);
    const before = this.#writing;
    const written = before.catch(() => undefined).then(() => this.#write());
    this.#writing = written;
    await written;
  }

  async #write(): Promise<void> {
    const path = join(this.#modelsDir, LOCK_FILE);
    try {
      const handle = await open(`${path}.new`, 'w');
      try {
        await handle.writeFile(this.text([...this.#files.keys()]));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${path}.new`, path);
      syncFolder(this.#modelsDir);
    } catch (error) {
      throw diskError(error, path);
    }
  }

  /** As it is written, of these places only. */
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

/** What a file has to add up to: as the manifest says, or as it did the first time; null when nobody knows. */
export function expectedOf(
  model: Exclude<Model, { kind: 'llm' }>,
  file: ModelFile,
  noted: LockEntry | null,
): ExpectedSum | null {
  const { sha256, bytes } = file;
  if (sha256 !== null) return { algorithm: 'sha256', hex: sha256, bytes };
  if (noted === null || noted.revision !== model.revision) return null;
  return { algorithm: 'sha256', hex: noted.sha256, bytes: noted.bytes };
}

function unreadable(path: string, error: unknown): ModelsError {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  return new ModelsError(
    'usage',
    `Cannot read "${path}", which holds the checksums of what was downloaded: ${why}; bring it back from a backup, or remove it to trust the servers anew`,
    { cause: error },
  );
}
