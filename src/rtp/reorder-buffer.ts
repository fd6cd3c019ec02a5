/** Reorder buffer, the part of a jitter buffer that puts packets back in sequence; depth 2 packets or 60 ms; pure */
import { keptCopy, type RtpPacket, sequenceDistance } from './packet.ts';

/** A packet in sequence. */
export interface OrderedPacket {
  readonly packet: RtpPacket;
  /** First packet of a new stream, whose timestamps are unrelated to those before. */
  readonly isRestart: boolean;
}

/** Depth of the jitter buffer: packets held while one before them is missing; 40 ms of audio. */
const HELD_MAX = 2;
/** Longest hold in the jitter buffer, in milliseconds, where no further packets come. */
const HELD_MS_MAX = 60;
/** A larger jump forward is a restarted count, not loss. RFC 3550, A.1. */
export const DROPOUT_MAX = 3000;
/** A packet further behind belongs to a restarted count and is not late. RFC 3550, A.1. */
export const MISORDER_MAX = 100;

const NONE: readonly OrderedPacket[] = [];

const NONE_HELD: readonly Held[] = [];
const NONE_MISSING: readonly number[] = [];

interface Held {
  readonly packet: RtpPacket;
  readonly arrivedAtMs: number;
}

/**
 * Packets in sequence pass at once. After a gap, up to two are held until the missing one arrives or 60 ms pass. Another
 * SSRC or a jump in the count is a new stream and passes at once: `SourceLock` has accepted the sender, and a carrier
 * that moves a call restarts the count.
 */
export class ReorderBuffer {
  /** NaN, which no packet has, before the first one. */
  #ssrc = Number.NaN;
  /** Sequence number that comes next, 16 bits. */
  #next = 0;
  #held = NONE_HELD;
  /** Sequence numbers of the newest packets that were given up: late if they still arrive; others behind are duplicates. */
  #missing = NONE_MISSING;
  #late = 0;
  #twice = 0;

  /** Dropped packets that arrived too late. */
  get late(): number {
    return this.#late;
  }

  /** Dropped duplicates. */
  get twice(): number {
    return this.#twice;
  }

  /** Whether packets wait for a missing one. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Takes a packet that is next in sequence, without an object. @returns false for any other, which goes to `accept`. */
  passes(packet: RtpPacket): boolean {
    if (packet.sequence !== this.#next || packet.ssrc !== this.#ssrc || this.isHolding)
      return false;
    this.#next = (packet.sequence + 1) & 0xffff;
    return true;
  }

  /** Takes a packet; drops late ones and duplicates. @returns the packets that are now in sequence. */
  accept(packet: RtpPacket, nowMs: number): readonly OrderedPacket[] {
    const distance = sequenceDistance(this.#next, packet.sequence);
    if (packet.ssrc !== this.#ssrc || distance > DROPOUT_MAX || distance < -MISORDER_MAX) {
      return this.#restart(packet);
    }
    if (distance < 0 || this.#isHeld(packet.sequence)) {
      this.#countUseless(packet.sequence);
      return NONE;
    }
    if (distance === 0) {
      const passed = this.#pass(packet);
      return this.isHolding ? [passed, ...this.#passHeld()] : [passed];
    }
    const held = [...this.#held, { packet: keptCopy(packet), arrivedAtMs: nowMs }];
    this.#held = held.sort((one, other) => this.#distance(one) - this.#distance(other));
    return this.#held.length > HELD_MAX ? this.#giveUpMissing() : [];
  }

  /** @returns held packets whose time is over. Call it about every 20 ms. */
  expire(nowMs: number): readonly OrderedPacket[] {
    if (!this.isHolding) return NONE;
    const isOver = this.#held.some(({ arrivedAtMs }) => nowMs - arrivedAtMs >= HELD_MS_MAX);
    return isOver ? this.#giveUpMissing() : [];
  }

  #countUseless(sequence: number): void {
    if (this.#missing.includes(sequence)) {
      this.#missing = this.#missing.filter((missing) => missing !== sequence);
      this.#late += 1;
    } else {
      this.#twice += 1;
    }
  }

  #restart(packet: RtpPacket): readonly OrderedPacket[] {
    const leftOver = this.#held.map((held) => ({ packet: held.packet, isRestart: false }));
    this.#held = NONE_HELD;
    this.#missing = NONE_MISSING;
    this.#ssrc = packet.ssrc;
    this.#next = (packet.sequence + 1) & 0xffff;
    return [...leftOver, { packet, isRestart: true }];
  }

  #pass(packet: RtpPacket): OrderedPacket {
    this.#next = (packet.sequence + 1) & 0xffff;
    return { packet, isRestart: false };
  }

  /** Passes the held packets that follow without a gap. */
  #passHeld(): OrderedPacket[] {
    const passed: OrderedPacket[] = [];
    for (const { packet } of this.#held) {
      if (packet.sequence === this.#next) passed.push(this.#pass(packet));
    }
    this.#held = this.#held.slice(passed.length);
    return passed;
  }

  #giveUpMissing(): readonly OrderedPacket[] {
    const [first] = this.#held;
    if (first === undefined) return [];
    this.#held = this.#held.slice(1);
    this.#giveUp(this.#distance(first));
    return [this.#pass(first.packet), ...this.#passHeld()];
  }

  /** Gives up the next packets; the newest hundred are remembered. */
  #giveUp(packets: number): void {
    const given = Array.from({ length: packets }, (_, index) => (this.#next + index) & 0xffff);
    this.#missing = [...this.#missing, ...given].slice(-MISORDER_MAX);
  }

  #isHeld(sequence: number): boolean {
    return this.#held.some(({ packet }) => packet.sequence === sequence);
  }

  #distance(held: Held): number {
    return sequenceDistance(this.#next, held.packet.sequence);
  }
}
