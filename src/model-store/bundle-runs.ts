/** Runs for machines that reach no internet: one archive is made here, and unpacked there. */

import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import {
  BLOCK_BYTES,
  headerBlock,
  LOCK_ENTRY,
  MANIFEST_ENTRY,
  paddedBytes,
} from './bundle-format.ts';
import { unpackBundle } from './bundle-unpack.ts';
import { FileSum } from './file-sum.ts';
import { refuseWithoutRoom } from './free-space.ts';
import type { Manifest, Model } from './manifest.ts';
import { ModelLock } from './model-lock.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';
import { syncFolder } from './part-file.ts';
import { type PlannedFile, sizeOf } from './plan.ts';
import { Progress, type Screen } from './progress.ts';
import { lockFolder } from './run-lock.ts';
import { bytesText } from './wording.ts';

interface BundleRun {
  readonly bundle: string;
  readonly modelsDir: string;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes an archive of files that are there. @throws {ModelsError} */
export async function makeBundleRun(
  options: BundleRun & {
    readonly files: readonly PlannedFile[];
    readonly models: readonly Model[];
    readonly manifestText: string;
  },
): Promise<void> {
  const { bundle, modelsDir, screen, models } = options;
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    progress.add(
      bundle,
      options.files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      0,
    );
    progress.start();
    const onBytes = (done: number) => progress.update(bundle, done);
    const bytes = await writeBundle({ ...options, manifest: options.manifestText, lock, onBytes });
    progress.stop();
    screen.write(
      `Made "${bundle}", ${bytesText(bytes)}. On the other machine: npm run models -- --from-bundle ${bundle}\n`,
    );
    const left = models.flatMap((model) => (model.kind === 'llm' ? [model.ollama] : []));
    if (left.length > 0) {
      screen.write(
        `Not in it: ${left.join(', ')}, which Ollama keeps; docs/models.md tells how to carry that over.\n`,
      );
    }
  } finally {
    progress.stop();
    runLock.release();
  }
}

/** Unpacks an archive. @throws {ModelsError} */
export async function takeBundleRun(
  options: BundleRun & { readonly manifest: Manifest },
): Promise<void> {
  const { bundle, modelsDir, screen } = options;
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    progress.add(bundle, null, 0);
    progress.start();
    const places = await unpackBundle({
      ...options,
      lock,
      onBytes: (done) => progress.update(bundle, done),
      onNote: (text) => progress.say(screen.paint('yellow', text)),
    });
    progress.stop();
    const lines = places.map((place) => `${screen.paint('green', 'ok')}  ${place}`);
    screen.write(
      `${[...lines, `${places.length} files unpacked to "${modelsDir}", each checked.`].join('\n')}\n`,
    );
  } finally {
    progress.stop();
    runLock.release();
  }
}

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
