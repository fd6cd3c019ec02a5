/** Identifiers of SIP messages: generates branches, tags and Call-IDs, and reads those of a message. */
import type { SipMessage } from './message.ts';

/** Source of unpredictable bytes; `crypto.randomBytes` in production. */
export type RandomBytes = (count: number) => Uint8Array;

/** Prefix of every RFC 3261 branch. RFC 3261, 8.1.1.7. */
export const BRANCH_COOKIE = 'z9hG4bK';

/** Random branches, tags and Call-IDs. */
export class Tokens {
  readonly #randomBytes: RandomBytes;

  constructor(randomBytes: RandomBytes) {
    this.#randomBytes = randomBytes;
  }

  /** 96 random bits after the magic cookie, so that responses cannot be forged off the path. */
  branch(): string {
    return BRANCH_COOKIE + this.#hex(12);
  }

  /** 64 bits; RFC 3261, 19.3 asks for 32. */
  tag(): string {
    return this.#hex(8);
  }

  callId(): string {
    return this.#hex(16);
  }

  /** First CSeq or RSeq: small, so that counting up never overflows. RFC 3261, 8.1.1.5; RFC 3262, 3. */
  sequence(): number {
    const [high = 0, low = 0] = this.#randomBytes(2);
    return 1 + high * 256 + low;
  }

  /** Random number from 0 (inclusive) to 1 (exclusive), for back-off jitter. */
  fraction(): number {
    const [high = 0, low = 0] = this.#randomBytes(2);
    return (high * 256 + low) / 65_536;
  }

  #hex(bytes: number): string {
    return Buffer.from(this.#randomBytes(bytes)).toString('hex');
  }
}

/** Call-ID, tags and CSeq of a message. */
export interface MessageIds {
  readonly callId: string;
  readonly fromTag: string;
  /** Empty outside of dialogs. */
  readonly toTag: string;
  readonly sequence: number;
}

/** @throws {SipError} 400 when one of the headers is missing or malformed. */
export function idsOf(message: SipMessage): MessageIds {
  return {
    callId: message.callId,
    fromTag: message.fromTag,
    toTag: message.toTag,
    sequence: message.cseq.seq,
  };
}
