/** Reads the `Range` header of a download; pure */

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
