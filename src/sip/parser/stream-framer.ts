/** Cuts a stream of octets, as TCP brings it, into messages; pure */

import { BadMessageError, type SipMessage } from '../message/message.ts';
import {
  contentLength,
  finishMessage,
  HEAD_BYTES_MAX,
  type MessageHead,
  parseHead,
} from './parser.ts';

/** Empty line between head and body. */
const HEAD_END = '\r\n\r\n';

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
  /** The octets before this index hold no end of a head. */
  #searchedTo = 0;
  #head: MessageHead | undefined;
  #isPingHalf = false;
  #isBroken = false;

  /** Whether a message has begun and not ended; a peer that leaves it so for long is to be closed. */
  get isWaiting(): boolean {
    return this.#pending.view.length > 0 || this.#head !== undefined;
  }

  /** Adds octets. @returns the frames that they complete, in order; none once the stream is broken. */
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
    if (this.#pending.view.toString('latin1', 0, 2) !== '\r\n') return false;
    this.#take(2);
    if (this.#isPingHalf) frames.push({ kind: 'ping' });
    this.#isPingHalf = !this.#isPingHalf;
    return true;
  }

  #takeHead(frames: StreamFrame[]): boolean {
    const headEnd = this.#pending.view.indexOf(
      HEAD_END,
      Math.max(0, this.#searchedTo - HEAD_END.length),
    );
    if (headEnd === -1) {
      this.#searchedTo = this.#pending.view.length;
      if (this.#pending.view.length > HEAD_BYTES_MAX) this.#break(frames, 'Headers Too Large');
      return false;
    }
    this.#isPingHalf = false;
    this.#readHead(this.#take(headEnd + HEAD_END.length).subarray(0, headEnd), frames);
    return true;
  }

  #take(count: number): Buffer {
    this.#searchedTo = 0;
    return this.#pending.take(count);
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
    const lengthBytes = contentLength(head.message) ?? 0;
    if (this.#pending.view.length < lengthBytes) return false;
    const body = this.#take(lengthBytes);
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

/** Octet queue whose cost does not depend on chunk sizes. Its user limits the length. */
class PendingOctets {
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;

  get view(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  append(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#bytes.length) {
      const { view } = this;
      this.#bytes = Buffer.allocUnsafe(2 * (view.length + chunk.length));
      view.copy(this.#bytes);
      this.#start = 0;
      this.#end = view.length;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** Consumes a copy of `count` octets, which must be there. */
  take(count: number): Buffer {
    const taken = Buffer.from(this.view.subarray(0, count));
    this.#start += count;
    return taken;
  }
}
