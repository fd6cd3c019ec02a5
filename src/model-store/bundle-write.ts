/** Makes one archive of models, for machines that reach no internet. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  BLOCK_BYTES,
  headerBlock,
  LOCK_ENTRY,
  MANIFEST_ENTRY,
  paddedBytes,
} from './bundle-format.ts';
import { FileSum } from './file-sum.ts';
import { refuseWithoutRoom } from './free-space.ts';
import type { ModelLock } from './model-lock.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';
import { syncFolder } from './part-file.ts';
import { type PlannedFile, sizeOf } from './plan.ts';

/**
 * Writes the archive beside its place, checks each file on the way into it, and gives it its name when it is whole.
 *
 * @param options.manifest as text, the one that the files were planned from.
 * @param options.onBytes told how many bytes are written, of how many.
 * @returns its length in bytes.
 * @throws {ModelsError} when a file is missing or not what it should be, or the disk is full.
 */
export async function writeBundle(options: {
  readonly bundle: string;
  readonly files: readonly PlannedFile[];
  readonly manifest: string;
  readonly lock: ModelLock;
  readonly signal: AbortSignal;
  onBytes(done: number, total: number): void;
}): Promise<number> {
  const { bundle, files, lock } = options;
  const places = files.map(({ place }) => place);
  const lists = [
    [MANIFEST_ENTRY, Buffer.from(options.manifest)],
    [LOCK_ENTRY, Buffer.from(lock.text(places))],
  ] as const;
  const sizes = [...lists.map(([, text]) => text.length), ...files.map(sizeThere)];
  const total = sizes.reduce((sum, size) => sum + BLOCK_BYTES + paddedBytes(size), 2 * BLOCK_BYTES);
  const path = `${bundle}.part`;
  try {
    await refuseWithoutRoom(dirname(bundle), total);
    const handle = await open(path, 'w');
    try {
      const writer = new Writer(handle, (done) => options.onBytes(done, total));
      for (const [name, text] of lists) await writer.file(name, text.length, [text]);
      for (const file of files) await writer.checkedFile(file, options.signal);
      await writer.end();
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(path, bundle);
    syncFolder(dirname(bundle));
    return total;
  } catch (error) {
    await rm(path, { force: true });
    if (options.signal.aborted) throw cancelled(error);
    throw diskError(error, bundle);
  }
}

function sizeThere({ file, label }: PlannedFile): number {
  const size = sizeOf(file);
  if (size !== null) return size;
  throw new ModelsError('wrong-content', `Cannot put "${label}" into the archive: it is not there`);
}

class Writer {
  readonly #handle: FileHandle;
  readonly #onBytes: (done: number) => void;
  #done = 0;

  constructor(handle: FileHandle, onBytes: (done: number) => void) {
    this.#handle = handle;
    this.#onBytes = onBytes;
  }

  async checkedFile(file: PlannedFile, signal: AbortSignal): Promise<void> {
    const { expected, label } = file;
    const sum = new FileSum(expected);
    const stream = createReadStream(file.file, { highWaterMark: 1024 * 1024, signal });
    await this.file(file.place, sizeThere(file), adding(stream, sum));
    if (expected !== null && sum.finish(expected).isRight) return;
    throw new ModelsError(
      'wrong-content',
      `Cannot put "${label}" into the archive: what lies there is not what it should be; --check tells more`,
    );
  }

  async file(
    name: string,
    size: number,
    chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): Promise<void> {
    await this.#write(headerBlock(name, size));
    let came = 0;
    for await (const chunk of chunks) {
      came += chunk.length;
      await this.#write(chunk);
    }
    if (came !== size) {
      throw new ModelsError('disk', `Cannot put "${name}" into the archive: it changed meanwhile`);
    }
    await this.#write(Buffer.alloc(paddedBytes(size) - size));
  }

  async end(): Promise<void> {
    await this.#write(Buffer.alloc(2 * BLOCK_BYTES));
  }

  async #write(chunk: Buffer): Promise<void> {
    let written = 0;
    while (written < chunk.length) {
      written += (await this.#handle.write(chunk, written)).bytesWritten;
    }
    this.#done += chunk.length;
    this.#onBytes(this.#done);
  }
}

async function* adding(stream: AsyncIterable<Buffer>, sum: FileSum): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    sum.update(chunk);
    yield chunk;
  }
}
