/** Reads the body of an HTTP answer up to a limit. */

/**
 * Stops reading when the body is longer than `bytesMax`, which closes its connection.
 *
 * @returns the body as UTF-8, cut to `bytesMax`, and whether that is all of it.
 * @throws what the body throws when it breaks off.
 */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > bytesMax) break;
  }
  const read = Buffer.concat(pieces).subarray(0, bytesMax);
  return { text: read.toString('utf8'), isWhole: sizeBytes <= bytesMax };
}
