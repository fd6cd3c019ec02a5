/** A file that is on its way: `<file>.part`, and beside it what is needed to go on with it another day. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { diskError } from './models-error.ts';

/** Where the bytes so far come from. */
const originSchema = z.strictObject({
  url: z.string(),
  /** The server's name for this version of the file, for `If-Range`; null when it gave none that can be used. */
  validator: z.string().nullable(),
});

export type PartOrigin = z.infer<typeof originSchema>;

export class PartFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  #origin: PartOrigin | null;
  #bytes: number;

  private constructor(file: string, handle: FileHandle, origin: PartOrigin | null, bytes: number) {
    this.#file = file;
    this.#handle = handle;
    this.#origin = origin;
    this.#bytes = bytes;
  }

  /**
   * Opens the part of `file` that is there, or begins with none.
   *
   * @throws {ModelsError}
   */
  static async open(file: string): Promise<PartFile> {
    try {
      await mkdir(dirname(file), { recursive: true });
      const handle = await open(partOf(file), 'a+');
      const { size } = await handle.stat();
      return new PartFile(file, handle, size === 0 ? null : await originOf(file), size);
    } catch (error) {
      throw diskError(error, file);
    }
  }

  /** Of the part, for reading. */
  get path(): string {
    return partOf(this.#file);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Null when nobody knows: then only a checksum can tell whether the rest fits. */
  get origin(): PartOrigin | null {
    return this.#origin;
  }

  /** Forgets the bytes so far. */
  async restart(): Promise<void> {
    await this.#do(async () => {
      await this.#handle.truncate(0);
      await rm(originFileOf(this.#file), { force: true });
    });
    this.#bytes = 0;
    this.#origin = null;
  }

  /** Notes where the bytes to come are from. */
  async comesFrom(origin: PartOrigin): Promise<void> {
    await this.#do(() => writeFile(originFileOf(this.#file), JSON.stringify(origin)));
    this.#origin = origin;
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.#do(async () => {
      let written = 0;
      while (written < chunk.length) {
        const { bytesWritten } = await this.#handle.write(chunk, written);
        written += bytesWritten;
        this.#bytes += bytesWritten;
      }
    });
  }

  /** Gives the whole file its name, when all of it is on the disk. */
  async finish(): Promise<void> {
    await this.#do(async () => {
      await this.#handle.sync();
      await rename(partOf(this.#file), this.#file);
      await rm(originFileOf(this.#file), { force: true });
      syncFolder(dirname(this.#file));
    });
  }

  /** Removes it. */
  async discard(): Promise<void> {
    await this.#do(async () => {
      await rm(partOf(this.#file), { force: true });
      await rm(originFileOf(this.#file), { force: true });
    });
  }

  /** Safe to call twice. What was written stays, for another day. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #do(deed: () => Promise<void>): Promise<void> {
    try {
      await deed();
    } catch (error) {
      throw diskError(error, this.#file);
    }
  }
}

/** A new name in a folder is on the disk when the folder is. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function partOf(file: string): string {
  return `${file}.part`;
}

function originFileOf(file: string): string {
  return `${file}.part.json`;
}

async function originOf(file: string): Promise<PartOrigin | null> {
  const text = await readFile(originFileOf(file), 'utf8').catch(() => '');
  try {
    return originSchema.parse(JSON.parse(text));
  } catch {
    // Without it the part can still be used where a checksum will tell.
    return null;
  }
}
