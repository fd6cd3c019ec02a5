/** What an archive of models looks like, byte by byte. */
import { Header } from 'tar';

export const BLOCK_BYTES = 512;

/**
 * A plain tar of files only, in this order:
 *
 *     manifest.json                   the list of models that it was made from
 *     models.lock.json                checksum and source of every file in it
 *     vad/silero-v5/silero_vad.onnx   … the files, at their places below MODELS_DIR
 */
export const MANIFEST_ENTRY = 'manifest.json';

export const LOCK_ENTRY = 'models.lock.json';

/** The two lists are read into memory. */
export const LIST_BYTES_MAX = 4 * 1024 * 1024;

/** The same bytes whenever and by whomever it is made. */
const MADE_AT = new Date(0);

/** How many blocks hold so many bytes, in bytes. */
export function paddedBytes(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The block before a file. @throws {RangeError} when a name or length does not fit the plain format. */
export function headerBlock(path: string, size: number): Buffer {
  const header = new Header({
    path,
    size,
    type: 'File',
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: MADE_AT,
  });
  const block = Buffer.alloc(BLOCK_BYTES);
  const needsMore = header.encode(block, 0);
  if (needsMore) throw new RangeError(`Cannot put "${path}" of ${size} bytes into a plain tar`);
  return block;
}

/** What a header says, or why it is none. */
export type ReadHeader =
  | { readonly kind: 'end' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'bad'; readonly why: string };

/** Reads the block before a file. Whatever is not a plain file or folder is bad: links, devices, longer names. */
export function readHeader(block: Buffer): ReadHeader {
  if (block.every((byte) => byte === 0)) return { kind: 'end' };
  const header = decoded(block);
  if (!header?.cksumValid || header.path === undefined || header.path === '') {
    return { kind: 'bad', why: 'it is damaged, cut off, or not a tar' };
  }
  const { path, size, type } = header;
  if (type === 'Directory') return { kind: 'folder' };
  if (type !== 'File' && type !== 'OldFile') {
    return { kind: 'bad', why: `"${path}" in it is not a file (${type})` };
  }
  if (size === undefined || !Number.isSafeInteger(size) || size < 0) {
    return { kind: 'bad', why: `"${path}" in it has no length` };
  }
  return { kind: 'file', path: path.replace(/^\.\//, ''), bytes: size };
}

/** Null when it makes no sense at all. */
function decoded(block: Buffer): Header | null {
  try {
    return new Header(block);
  } catch {
    // The library throws at numbers that are none: a damaged header like any other.
    return null;
  }
}
