/** Cuts a stream of octets, as TCP brings it, into messages; pure */

import { BadMessageError, type SipMessage } from '../message/message.ts';
import {
  contentLength,
  finishMessage,
  HEAD_BYTES_MAX,
  type MessageHead,
  parseHead,
} from './parser.ts';

/**
 * One unit of a stream.
 *
 * - `ping`: keep-alive that expects CRLF (RFC 5626, section 4.4.1)
 * - `bad`: unreadable message; answer it unless `error.status` is 0
 * - `broken`: the same with lost framing: close the connection
 */
export type StreamFrame =
  | { readonly kind: 'message'; readonly message: SipMessage }
  | { readonly kind: 'ping' }
  | { readonly kind: 'bad'; readonly error: BadMessageError }
  | { readonly kind: 'broken'; readonly error: BadMessageError };

/**
 * Frames one connection by Content-Length. It holds at most one message that is not yet whole.
 *
 * @see RFC 3261 sections 7.5 and 18.3
 */
export class StreamFramer {
  readonly #pending = new PendingOctets();
  #head: MessageHead | undefined;
  #isPingHalf = false;
  #isBroken = false;

  /** Whether a message has begun and not ended; a peer that leaves it so for long is to be closed. */
  get isWaiting(): boolean {
    return this.#pending.length > 0 || this.#head !== undefined;
  }

  /** Takes octets in and gives what they complete, in order; nothing once the stream is broken. */
  push(chunk: Buffer): StreamFrame[] {
    const frames: StreamFrame[] = [];
    if (this.#isBroken) return frames;
    this.#pending.append(chunk);
    while (!this.#isBroken && this.#step(frames));
    return frames;
  }

  /** Parses the next unit; false when more octets are needed. */
  #step(frames: StreamFrame[]): boolean {
    if (this.#head === undefined) {
      return this.#takeLineBreak(frames) || this.#takeHead(frames);
    }
    return this.#takeBody(this.#head, frames);
  }

  #takeLineBreak(frames: StreamFrame[]): boolean {
    if (!this.#pending.takeLineBreak()) return false;
    if (this.#isPingHalf) frames.push({ kind: 'ping' });
    this.#isPingHalf = !this.#isPingHalf;
    return true;
  }

  #takeHead(frames: StreamFrame[]): boolean {
    const head = this.#pending.takeHead();
    if (head === undefined) {
      if (this.#pending.length > HEAD_BYTES_MAX) this.#break(frames, 'Headers Too Large');
      return false;
    }
    this.#isPingHalf = false;
    this.#readHead(head, frames);
    return true;
  }

  #readHead(bytes: Buffer, frames: StreamFrame[]): void {
    try {
      const head = parseHead(bytes.toString('latin1'));
      if (typeof contentLength(head.message) === 'number') this.#head = head;
      else finishMessage(head, Buffer.alloc(0), true);
    } catch (error) {
      this.#isBroken = true;
      frames.push({ kind: 'broken', error: asBadMessage(error) });
    }
  }

  #takeBody(head: MessageHead, frames: StreamFrame[]): boolean {
    const body = this.#pending.take(contentLength(head.message) ?? 0);
    if (body === undefined) return false;
    this.#head = undefined;
    try {
      frames.push({ kind: 'message', message: finishMessage(head, body, true) });
    } catch (error) {
      frames.push({ kind: 'bad', error: asBadMessage(error) });
    }
    return true;
  }

  #break(frames: StreamFrame[], why: string): void {
    this.#isBroken = true;
    frames.push({ kind: 'broken', error: new BadMessageError(0, why) });
  }
}

function asBadMessage(error: unknown): BadMessageError {
  if (error instanceof BadMessageError) return error;
  throw error;
}

const CAPACITY_BYTES = 4096;
const CRLF_CRLF = Buffer.from('\r\n\r\n');

/** Octet queue whose cost does not depend on chunk sizes. Its user limits the length. */
export class PendingOctets {
  #bytes: Buffer = Buffer.allocUnsafe(CAPACITY_BYTES);
  #start = 0;
  #end = 0;

  /** The octets before this index hold no end of a head. */
  #searchedTo = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  append(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length);
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** Consumes a leading CR LF. */
  takeLineBreak(): boolean {
    const isLineBreak =
      this.length >= 2 &&
      this.#bytes[this.#start] === 0x0d &&
      this.#bytes[this.#start + 1] === 0x0a;
    if (isLineBreak) this.#drop(2);
    return isLineBreak;
  }

  /** Consumes the octets up to and including the first empty line; undefined without one. */
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

  /** Consumes a copy of `count` octets; undefined while there are fewer. */
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

  /** Moves the pending octets to the front, of a buffer twice as large if they would not fit. */
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
