/** Unpacks an archive of models into MODELS_DIR, each file checked before it gets its name. */

import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import {
  BLOCK_BYTES,
  LIST_BYTES_MAX,
  LOCK_ENTRY,
  MANIFEST_ENTRY,
  paddedBytes,
  readHeader,
} from './bundle-format.ts';
import { FileSum } from './file-sum.ts';
import { refuseWithoutRoom } from './free-space.ts';
import { type Manifest, parseManifest, placeOf } from './manifest.ts';
import { expectedOf, type LockEntry, type ModelLock, parseLock } from './model-lock.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';
import { syncFolder } from './part-file.ts';
import { type PlannedFile, planFiles, sizeOf } from './plan.ts';
import { isSafePath } from './safe-path.ts';

/** A file of the archive, and what it has to be. */
interface Unpacking {
  readonly bundled: BundledFile;
  readonly planned: PlannedFile;
  /** Who says what it has to be: our own list, or the archive's. */
  readonly trust: 'manifest' | 'bundle';
}

export interface UnpackOptions {
  readonly bundle: string;
  readonly modelsDir: string;
  /** Ours: an archive brings files, and never a list of its own to check them by. */
  readonly manifest: Manifest;
  readonly lock: ModelLock;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onBytes(done: number, total: number): void;
  /** Told of a file whose checksum is only in the archive itself. */
  onNote(text: string): void;
}

/**
 * Unpacks all that is in it.
 *
 * @returns the places of the files that are there now.
 * @throws {ModelsError} `wrong-content` before anything is unpacked where the archive holds what it must not, and at the
 * first file that is not what it has to be.
 */
export async function unpackBundle(options: UnpackOptions): Promise<readonly string[]> {
  const { bundle, modelsDir, lock, clock } = options;
  const all = plannedByPlace(options);
  const contents = await readBundle(bundle, (place) => all.has(place));
  const work = contents.files.map((bundled) => unpackingOf(bundled, all, contents.lock, options));
  const total = work.reduce((sum, { bundled }) => sum + bundled.bytes, 0);
  await mkdir(modelsDir, { recursive: true });
  await refuseWithoutRoom(
    modelsDir,
    work.reduce((sum, each) => sum + bytesToWrite(each), 0),
  );
  let done = 0;
  for (const { bundled, planned, trust } of work) {
    const sha256 = await unpackFile(bundle, bundled, planned, options.signal, (bytes) => {
      done += bytes;
      options.onBytes(done, total);
    });
    const { revision, url, place } = planned;
    const at = clock.now().toISOString();
    await lock.note({ [place]: { sha256, bytes: bundled.bytes, trust, revision, url, at } });
  }
  return work.map(({ planned }) => planned.place);
}

function plannedByPlace({ manifest, modelsDir, lock }: UnpackOptions): Map<string, PlannedFile> {
  const files = planFiles(manifest.models, { modelsDir, lock, mirror: null });
  return new Map(files.map((file) => [file.place, file]));
}

function unpackingOf(
  bundled: BundledFile,
  all: ReadonlyMap<string, PlannedFile>,
  theirs: ReadonlyMap<string, LockEntry>,
  options: UnpackOptions,
): Unpacking {
  const planned = all.get(bundled.place);
  if (planned === undefined) throw new TypeError(`"${bundled.place}" was not checked`);
  if (planned.expected !== null) return { bundled, planned, trust: 'manifest' };
  const { model, place } = planned;
  const file = model.files.find((each) => placeOf(model, each) === place);
  const expected = file && expectedOf(model, file, theirs.get(place) ?? null);
  if (expected === null || expected === undefined) {
    throw new ModelsError(
      'unverified',
      `Cannot unpack "${place}": neither our list of models nor the archive says what its checksum is`,
    );
  }
  options.onNote(
    `${place}: its checksum is taken from the archive, and kept: trust in whoever made it`,
  );
  return { bundled, planned: { ...planned, expected }, trust: 'bundle' };
}

function bytesToWrite({ bundled, planned }: Unpacking): number {
  return Math.max(0, bundled.bytes - (sizeOf(planned.file) ?? 0));
}

async function unpackFile(
  bundle: string,
  bundled: BundledFile,
  planned: PlannedFile,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const path = join(dirname(planned.file), `.${bundled.offset}.unpacking`);
  try {
    await mkdir(dirname(planned.file), { recursive: true });
    const handle = await open(path, 'w');
    const sum = new FileSum(planned.expected);
    try {
      for await (const chunk of bytesOfBundled(bundle, bundled)) {
        if (signal.aborted) throw cancelled(signal.reason);
        sum.update(chunk);
        await handle.appendFile(chunk);
        onBytes(chunk.length);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const { sha256, isRight } = sum.finish(planned.expected);
    if (!isRight) throw wrongFile(bundle, bundled, sha256, planned);
    await rename(path, planned.file);
    syncFolder(dirname(planned.file));
    return sha256;
  } catch (error) {
    await rm(path, { force: true });
    throw diskError(error, planned.file);
  }
}

function wrongFile(
  bundle: string,
  { place }: BundledFile,
  sha256: string,
  { expected }: PlannedFile,
): ModelsError {
  return new ModelsError(
    'wrong-content',
    `Cannot unpack "${place}" from "${bundle}": its SHA-256 is ${sha256}, and ${expected?.hex} was promised; it was not kept. Copy the archive again, or make it anew with --offline-bundle`,
  );
}

/** More files than the list of models will ever have. */
const ENTRIES_MAX = 10_000;

/** Where a file lies in the archive. */
interface BundledFile {
  /** Below MODELS_DIR, with `/`; safe. */
  readonly place: string;
  readonly offset: number;
  readonly bytes: number;
}

interface BundleContents {
  readonly manifest: Manifest;
  readonly lock: ReadonlyMap<string, LockEntry>;
  readonly files: readonly BundledFile[];
}

/**
 * Reads the headers of an archive, and its two lists; nothing is unpacked.
 *
 * @param mayHold whether a place is one that our own list of models has.
 * @throws {ModelsError} `wrong-content`, naming what is wrong: a path that leads elsewhere, a link, a file that is not in
 * the list, one that is there twice, or a damaged archive.
 */
async function readBundle(
  bundle: string,
  mayHold: (place: string) => boolean,
): Promise<BundleContents> {
  const handle = await open(bundle, 'r').catch((error: unknown) => {
    throw new ModelsError('usage', `Cannot read the archive "${bundle}": ${error}`, {
      cause: error,
    });
  });
  try {
    const entries = await entriesOf(handle, (why) => refused(bundle, why));
    const manifest = await listOf(handle, entries.get(MANIFEST_ENTRY), bundle, MANIFEST_ENTRY);
    const lock = await listOf(handle, entries.get(LOCK_ENTRY), bundle, LOCK_ENTRY);
    const files = [...entries.values()].filter(
      ({ place }) => place !== MANIFEST_ENTRY && place !== LOCK_ENTRY,
    );
    for (const { place } of files) {
      if (mayHold(place)) continue;
      throw refused(
        bundle,
        `"${place}" in it is not in the list of models; is it of another version of Offhook?`,
      );
    }
    return {
      manifest: parseManifest(manifest, `${bundle}: ${MANIFEST_ENTRY}`),
      lock: parseLock(lock, `${bundle}: ${LOCK_ENTRY}`),
      files,
    };
  } finally {
    await handle.close();
  }
}

/** The bytes of a file in an archive. */
function bytesOfBundled(bundle: string, file: BundledFile): AsyncIterable<Buffer> {
  const { offset, bytes } = file;
  if (bytes === 0) return noBytes();
  return createReadStream(bundle, {
    start: offset,
    end: offset + bytes - 1,
    highWaterMark: 1024 * 1024,
  });
}

async function* noBytes(): AsyncGenerator<Buffer> {}

async function entriesOf(
  handle: FileHandle,
  refuse: (why: string) => ModelsError,
): Promise<ReadonlyMap<string, BundledFile>> {
  const { size } = await handle.stat();
  const entries = new Map<string, BundledFile>();
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let offset = 0; ; ) {
    const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, offset);
    if (bytesRead < BLOCK_BYTES) throw refuse('it is damaged, cut off, or not a tar');
    const header = readHeader(block);
    offset += BLOCK_BYTES;
    if (header.kind === 'end') return entries;
    if (header.kind === 'bad') throw refuse(header.why);
    if (header.kind === 'folder') continue;
    const { path, bytes } = header;
    const problem = problemWith(path, entries);
    if (problem !== null) throw refuse(problem);
    if (offset + bytes > size) throw refuse(`"${path}" in it is cut off`);
    entries.set(path, { place: path, offset, bytes });
    offset += paddedBytes(bytes);
  }
}

function problemWith(path: string, entries: ReadonlyMap<string, BundledFile>): string | null {
  if (!isSafePath(path)) return `"${path}" in it would lie outside the folder of models`;
  if (entries.has(path)) return `"${path}" is in it twice`;
  return entries.size < ENTRIES_MAX ? null : 'there are too many files in it';
}

async function listOf(
  handle: FileHandle,
  entry: BundledFile | undefined,
  bundle: string,
  name: string,
): Promise<string> {
  if (entry === undefined) throw refused(bundle, `there is no ${name} in it`);
  if (entry.bytes > LIST_BYTES_MAX) throw refused(bundle, `${name} in it is too long`);
  const text = Buffer.alloc(entry.bytes);
  await handle.read(text, 0, entry.bytes, entry.offset);
  return text.toString('utf8');
}

function refused(bundle: string, why: string): ModelsError {
  const plain = why.replace(/\p{Cc}/gu, '?');
  return new ModelsError(
    'wrong-content',
    `Cannot use the archive "${bundle}": ${plain}; nothing of it was unpacked. Make it anew with --offline-bundle`,
  );
}
