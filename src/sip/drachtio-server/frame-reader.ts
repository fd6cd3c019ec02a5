/** Cuts what a drachtio client sends into frames; pure */

/** A SIP message of the longest, and the line of fields before it. */
const FRAME_BYTES_MAX = 131_072;

/** Enough digits for the longest frame. */
const LENGTH_DIGITS_MAX = 6;

const HASH = 0x23;

/** What is no frame: the connection that brought it is of no more use. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Reads frames off one connection.
 *
 * ```
 * <length in octets> # <payload>
 * ```
 */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /**
   * Takes octets in and gives the payloads they complete, in order.
   *
   * @throws {FrameError} when a frame has no length, or one that is too great.
   */
  push(chunk: Buffer): Buffer[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const payloads: Buffer[] = [];
    for (let payload = this.#next(); payload !== undefined; payload = this.#next()) {
      payloads.push(payload);
    }
    return payloads;
  }

  #next(): Buffer | undefined {
    const hash = this.#pending.subarray(0, LENGTH_DIGITS_MAX + 1).indexOf(HASH);
    if (hash === -1) {
      if (this.#pending.length > LENGTH_DIGITS_MAX) throw new FrameError('Bad frame length');
      return undefined;
    }
    const end = hash + 1 + parseLength(this.#pending.toString('latin1', 0, hash));
    if (this.#pending.length < end) return undefined;
    const payload = this.#pending.subarray(hash + 1, end);
    this.#pending = this.#pending.subarray(end);
    return payload;
  }
}

/** One frame whose payload is a line and the octets behind it. */
export function formatFrame(line: string, octets: Buffer = Buffer.alloc(0)): Buffer {
  const lengthBytes = Buffer.byteLength(line) + octets.length;
  return Buffer.concat([Buffer.from(`${lengthBytes}#${line}`), octets]);
}

function parseLength(text: string): number {
  const length = /^\d+$/.test(text) ? Number(text) : 0;
  if (length === 0 || length > FRAME_BYTES_MAX) throw new FrameError('Bad frame length');
  return length;
}
