/** Joins lines inside one thread: what one hears goes out of another; from one at a time, and to one at a time. */
import type { RtpPacket } from '../rtp/packet.ts';
import type { CodecName } from '../rtp/sdp-answer.ts';
import type { LineSender } from './line-sender.ts';

/** One line's ends: the feed that its sound comes from, and the one that its hearing goes to. */
export class LineFeed {
  readonly #sender: LineSender;
  #source: LineFeed | undefined;
  #sink: LineFeed | undefined;

  constructor(sender: LineSender) {
    this.#sender = sender;
  }

  /** Lets go out here what the other line hears; of none when not given. */
  from(other: LineFeed | undefined): void {
    if (this.#source !== undefined) this.#source.#sink = undefined;
    if (other !== undefined && other.#sink !== undefined) other.#sink.from(undefined);
    this.#source = other;
    if (other !== undefined) other.#sink = this;
  }

  /** Sends on what this line has heard, where somebody wants it. */
  pass(packet: RtpPacket, content: CodecName | 'key' | undefined, nowMs: number): void {
    if (this.#sink === undefined || content === undefined) return;
    this.#sink.#sender.forward(packet, content, nowMs);
  }

  /** Joined with nobody any more. */
  stop(): void {
    this.from(undefined);
    this.#sink?.from(undefined);
  }
}
