/** Prepared model files: graphs that `npm run models` rewrites next to the export, so that the server runs them faster. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** Raised when the preparation changes; files of another version are ignored until they are prepared again. */
const VERSION = 1;

/** The version mark stands in the first field of the file, so no more is read to find it. */
const MARK_BYTES_MAX = 128;

const ENDING = '.prepared.onnx';

/** `encoder_model.prepared.onnx` for `encoder_model.onnx`. */
export function preparedPathOf(exportPath: string): string {
  return exportPath.replace(/(\.onnx)?$/, ENDING);
}

/** Whether a path is that of a prepared file. */
export function isPrepared(path: string): boolean {
  return path.endsWith(ENDING);
}

/**
 * The producer name of a prepared file: pins the version of the preparation and the SHA-256 of the export.
 *
 * @param sha256 of the export, in hexadecimal.
 */
export function preparedMark(sha256: string): string {
  return `offhook-prepared/${VERSION} sha256:${sha256}`;
}

/**
 * Finds the prepared file of an export.
 *
 * @returns null where there is none, or where it was made by another version or from another export.
 * @throws {Error} of the file system when the export cannot be read.
 */
export async function findPrepared(exportPath: string): Promise<string | null> {
  const path = preparedPathOf(exportPath);
  const start = await startOf(path);
  if (start === null) return null;
  const hash = createHash('sha256');
  await pipeline(createReadStream(exportPath, { highWaterMark: 2 ** 20 }), hash);
  return start.includes(preparedMark(hash.digest('hex'))) ? path : null;
}

/** The first bytes of a file; null where it cannot be read. */
async function startOf(path: string): Promise<Buffer | null> {
  try {
    await using file = await open(path);
    const { buffer } = await file.read(Buffer.alloc(MARK_BYTES_MAX), 0, MARK_BYTES_MAX, 0);
    return buffer;
  } catch {
    // The export is used instead, and the engine says that it is not prepared.
    return null;
  }
}
