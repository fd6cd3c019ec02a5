/** Octets of a stream that nobody has read yet; pure */

const CAPACITY_BYTES = 4096;
const CRLF_CRLF = Buffer.from('\r\n\r\n');

/** A queue of octets whose cost does not depend on the pieces they come in. Its user bounds it. */
export class PendingOctets {
  #bytes: Buffer = Buffer.allocUnsafe(CAPACITY_BYTES);
  #start = 0;
  #end = 0;

  /** Up to here no end of head was found, so there is none to be looked for again. */
  #searchedTo = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  append(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length);
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** Takes CR LF, if that is what stands first. */
  takeLineBreak(): boolean {
    const isLineBreak =
      this.length >= 2 &&
      this.#bytes[this.#start] === 0x0d &&
      this.#bytes[this.#start + 1] === 0x0a;
    if (isLineBreak) this.#drop(2);
    return isLineBreak;
  }

  /** Takes what stands before the first empty line, and that line; undefined while there is none. */
  takeHead(): Buffer | undefined {
    const from = Math.max(this.#start, this.#searchedTo - CRLF_CRLF.length + 1);
    const at = this.#bytes.subarray(0, this.#end).indexOf(CRLF_CRLF, from);
    if (at === -1) {
      this.#searchedTo = this.#end;
      return undefined;
    }
    const head = this.take(at - this.#start);
    this.#drop(CRLF_CRLF.length);
    return head;
  }

  /** Takes a copy of that many octets; undefined while there are not so many. */
  take(count: number): Buffer | undefined {
    if (this.length < count) return undefined;
    const taken = Buffer.from(this.#bytes.subarray(this.#start, this.#start + count));
    this.#drop(count);
    return taken;
  }

  #drop(count: number): void {
    this.#start += count;
    this.#searchedTo = this.#start;
  }

  /** Moves what is there to the front, into twice the room where it would not fit. */
  #makeRoom(count: number): void {
    const { length } = this;
    const needed = length + count;
    const target =
      needed <= this.#bytes.length / 2
        ? this.#bytes
        : Buffer.allocUnsafe(Math.max(needed, CAPACITY_BYTES) * 2);
    this.#bytes.copy(target, 0, this.#start, this.#end);
    this.#bytes = target;
    this.#searchedTo = Math.max(0, this.#searchedTo - this.#start);
    this.#start = 0;
    this.#end = length;
  }
}
