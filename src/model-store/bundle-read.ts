/** Reads what an archive of models holds, and refuses it whole if anything in it has no business there. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import {
  BLOCK_BYTES,
  LIST_BYTES_MAX,
  LOCK_ENTRY,
  MANIFEST_ENTRY,
  paddedBytes,
  readHeader,
} from './bundle-format.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { type LockEntry, parseLock } from './model-lock.ts';
import { ModelsError } from './models-error.ts';
import { isSafePath } from './safe-path.ts';

/** More files than the list of models will ever have. */
const ENTRIES_MAX = 10_000;

/** Where a file lies in the archive. */
export interface BundledFile {
  /** Below MODELS_DIR, with `/`; safe. */
  readonly place: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface BundleContents {
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
export async function readBundle(
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
export function bytesOfBundled(bundle: string, file: BundledFile): AsyncIterable<Buffer> {
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
