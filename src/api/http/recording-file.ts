/** The recording of a call on the disk, what part of it a client wants, and whether the client has it already. */
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Call } from '../../domain/call/call.ts';
import { ServiceError } from '../../domain/service-error.ts';

interface RecordingFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Another one after every change of the file; fits into an ETag. */
  readonly version: string;
}

/** @throws {ServiceError} NOT_FOUND when the call has no recording, or it would lie outside the data folder. */
export async function recordingFileOf(call: Call, dataFolder: string): Promise<RecordingFile> {
  const folder = resolve(dataFolder);
  const path = resolve(folder, call.recordingFile ?? '');
  if (!path.startsWith(folder + sep)) throw noRecording();
  const { size, mtimeMs } = await factsOf(path);
  const version = `${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}`;
  return { path, sizeBytes: size, version };
}

export function noRecording(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Cannot find the recording: the call has none');
}

/** Whether a client's `If-None-Match` names what it would get. RFC 9110, 13.1.2. */
export function isHeld(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

async function factsOf(path: string): Promise<Stats> {
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    // Removed by the operator, or never written because the disk was full.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (facts === undefined || !facts.isFile()) throw noRecording();
  return facts;
}

/** Bytes `first` to `last`, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a range of a file.
 *
 * @returns undefined when the whole file is to be sent: no header, another unit, more than one range, or not
 * understood; `unsatisfiable` when the file has no such bytes.
 * @see RFC 9110 section 14.2
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return lastBytes(Number(to), sizeBytes);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return undefined;
  if (first >= sizeBytes) return 'unsatisfiable';
  return { first, last: Math.min(last, sizeBytes - 1) };
}

function lastBytes(countBytes: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (countBytes === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - countBytes), last: sizeBytes - 1 };
}
