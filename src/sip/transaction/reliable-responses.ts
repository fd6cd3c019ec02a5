/** Responses that are retransmitted until they are acknowledged: 2xx to INVITE (ACK; RFC 3261, 13.3.1.4) and reliable provisional responses (PRACK; RFC 3262). */
import type { Clock } from '../../lib/clock.ts';
import { parseDecimal } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import type { ServerTransaction } from './server-transaction.ts';
import { type BaseTimers, Retransmitter } from './timers.ts';

interface AckWaitOptions {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  /** CSeq number of the INVITE, which the ACK repeats. */
  readonly sequence: number;
  /** Resolved with the ACK; null when it is given up. */
  readonly ack: PromiseWithResolvers<SipMessage | null>;
  /** Server transaction that holds the 2xx. */
  readonly transaction: Pick<ServerTransaction, 'repeat' | 'acknowledged'>;
  /** No ACK within 64*T1. */
  readonly onTimeout: () => void;
}

/** Retransmits the 2xx over every transport. The caller sends it first. */
export class AckWait {
  readonly sequence: number;
  readonly #options: AckWaitOptions;
  readonly #repeater: Retransmitter;
  #isSettled = false;

  constructor(options: AckWaitOptions) {
    const { clock, timers, transaction, onTimeout } = options;
    this.sequence = options.sequence;
    this.#options = options;
    this.#repeater = new Retransmitter({
      clock,
      firstMs: timers.t1Ms,
      longestMs: timers.t2Ms,
      resend: () => transaction.repeat(),
      patienceMs: 64 * timers.t1Ms,
      onTimeout: () => {
        this.settle(null);
        onTimeout();
      },
    });
  }

  /** The ACK; null when it is given up. */
  get acknowledged(): Promise<SipMessage | null> {
    return this.#options.ack.promise;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  settle(ack: SipMessage | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#repeater.stop();
    this.#options.transaction.acknowledged();
    this.#options.ack.resolve(ack);
  }
}

interface ReliableProvisionalsOptions {
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
  #stopCurrent: () => void = () => undefined;
  #onIdle: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ReliableProvisionalsOptions) {
    this.#options = options;
    this.#cseqWords = wordsOf(options.cseq).join(' ');
    this.#nextSequence = options.firstSequence;
  }

  /**
   * Adds Require and RSeq to the response and sends it in its turn.
   *
   * @returns the PRACK; null when none came before `stop`.
   * @throws {RangeError} when 16 responses are already queued.
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

  /** Calls `go` once no response waits for its PRACK; at once if none does. */
  whenConfirmed(go: () => void): void {
    if (this.#queue.length === 0) go();
    else this.#onIdle = go;
  }

  /** Takes a PRACK; false when it confirms no waiting response. */
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
      patienceMs: 64 * timers.t1Ms,
      onTimeout: () => {
        this.stop();
        onTimeout();
      },
    });
    this.#stopCurrent = () => repeater.stop();
    send(waiting.response);
  }
}

/** `RAck: 776656 1 INVITE`: the RSeq, and the CSeq of the INVITE. */
function isRackOf(rack: string, waiting: Waiting, cseqWords: string): boolean {
  const [rseq = '', ...rest] = wordsOf(rack);
  const sequence = parseDecimal(rseq, 0xffffffff);
  return sequence === waiting.sequence && rest.join(' ') === cseqWords;
}

/** Splits at any amount of white space. */
function wordsOf(text: string): string[] {
  return text.trim().split(/[ \t]+/);
}
