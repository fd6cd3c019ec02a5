/** Provisional responses that are repeated until their PRACK comes: the server side of RFC 3262. */
import type { Clock } from '../../lib/clock.ts';
import { parseDecimal } from '../message/char-class.ts';
import type { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
import { Retransmitter } from './retransmitter.ts';
import type { BaseTimers } from './timers.ts';

export interface ReliableProvisionalsOptions {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  /** RSeq of the first one. */
  readonly firstSequence: number;
  /** CSeq value of the INVITE, which RAck repeats. */
  readonly cseq: string;
  readonly send: (response: SipMessage) => void;
  /** No PRACK within 64*T1. */
  readonly onTimeout: () => void;
}

interface Waiting {
  readonly sequence: number;
  readonly response: SipMessage;
  readonly settle: (prack: SipMessage | null) => void;
}

/** More progress than that, unconfirmed, is a fault of the application. */
const WAITING_MAX = 16;

/** One at a time: the next goes out when the one before is confirmed. RFC 3262, 3. */
export class ReliableProvisionals {
  readonly #options: ReliableProvisionalsOptions;
  readonly #cseqWords: string;
  #nextSequence: number;
  #queue: Waiting[] = [];
  #stopCurrent: () => void = doNothing;
  #onIdle: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ReliableProvisionalsOptions) {
    this.#options = options;
    this.#cseqWords = wordsOf(options.cseq).join(' ');
    this.#nextSequence = options.firstSequence;
  }

  /**
   * Puts Require and RSeq on the response and sends it in its turn.
   *
   * @returns the PRACK; null when none came before `stop`.
   * @throws {RangeError} when 16 already wait.
   */
  send(response: SipMessage): Promise<SipMessage | null> {
    if (this.#queue.length >= WAITING_MAX) {
      throw new RangeError('Cannot send provisional response: 16 others wait for their PRACK');
    }
    const sequence = this.#nextSequence++;
    response.set('require', '100rel').set('rseq', sequence);
    return new Promise((resolve) => {
      if (this.#isStopped) {
        resolve(null);
        return;
      }
      this.#queue.push({ sequence, response, settle: resolve });
      if (this.#queue.length === 1) this.#start();
    });
  }

  /** Calls `go` when nothing waits for its PRACK any more: at once when nothing does. */
  whenConfirmed(go: () => void): void {
    if (this.#queue.length === 0) go();
    else this.#onIdle = go;
  }

  /** Takes a PRACK; false when it confirms nothing that is waiting. */
  receive(prack: SipMessage): boolean {
    const [waiting] = this.#queue;
    const isMatch =
      waiting !== undefined && isRackOf(prack.get('rack') ?? '', waiting, this.#cseqWords);
    if (!isMatch) return false;
    this.#stopCurrent();
    this.#queue.shift();
    waiting.settle(prack);
    if (this.#queue.length > 0) this.#start();
    else this.#onIdle?.();
    return true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopCurrent();
    this.#onIdle = undefined;
    for (const { settle } of this.#queue.splice(0)) settle(null);
  }

  #start(): void {
    const [waiting] = this.#queue;
    if (waiting === undefined) return;
    const { clock, timers, send, onTimeout } = this.#options;
    const repeater = new Retransmitter({
      clock,
      firstMs: timers.t1Ms,
      longestMs: Number.POSITIVE_INFINITY,
      resend: () => send(waiting.response),
    });
    const cancelTimeout = clock.after(64 * timers.t1Ms, () => {
      this.stop();
      onTimeout();
    });
    this.#stopCurrent = () => {
      repeater.stop();
      cancelTimeout();
    };
    send(waiting.response);
  }
}

/** `RAck: 776656 1 INVITE`: the RSeq, and the CSeq of the INVITE. */
function isRackOf(rack: string, waiting: Waiting, cseqWords: string): boolean {
  const [rseq = '', ...rest] = wordsOf(rack);
  const sequence = parseDecimal(rseq, 0xffffffff);
  return sequence === waiting.sequence && rest.join(' ') === cseqWords;
}

/** However much space there is between them. */
function wordsOf(text: string): string[] {
  return text.trim().split(/[ \t]+/);
}
