/** One SMPP session as a transceiver: bound, kept alive, with a limit on every wait. */
import type { Socket } from 'node:net';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import {
  bindBody,
  COMMANDS,
  type Delivery,
  GENERIC_NACK,
  type Pdu,
  RESPONSE_BIT,
  readDelivery,
  readMessageId,
  readPdu,
  type Submission,
  submitBody,
  writePdu,
} from './smpp-pdu.ts';

const RESPONSE_MS_MAX = 10_000;

/** Firewalls forget a connection that is silent for longer. */
const ENQUIRE_MS = 30_000;

/** Requests that wait for a response at one time. */
const WINDOW_MAX = 32;

/** Deliveries that are worked on at one time; the gateway repeats the others. */
const DELIVERIES_MAX = 64;

/** Values of `command_status`. @see SMPP 3.4, 5.1.3 */
const STATUS = {
  ok: 0,
  malformed: 0x01,
  invalidCommand: 0x03,
  throttled: 0x58,
  temporary: 0x64,
} as const;

const SEQUENCE_MAX = 0x7fff_ffff;

/** Answer of the gateway to a submission: its identifier, or the status of its refusal. */
export type SubmitOutcome =
  | { readonly kind: 'taken'; readonly messageId: string | null }
  | { readonly kind: 'refused'; readonly status: number };

interface SessionOptions {
  /** Connected; the session owns it. */
  readonly socket: Socket;
  readonly clock: Clock;
  /** Takes a message or a report; rejects where it cannot, and the gateway sends it again. */
  readonly onDelivery: (delivery: Delivery) => Promise<void>;
}

/** A session on one connection. */
export class SmppSession {
  /** Resolves with the reason when the connection is closed. */
  readonly closed: Promise<string>;
  readonly #options: SessionOptions;
  readonly #waiting = new Map<number, (response: Pdu | undefined) => void>();
  readonly #close: (reason: string) => void;
  #received: Buffer = Buffer.alloc(0);
  #sequence = 0;
  #deliveries = 0;
  #isClosed = false;
  #cancelEnquiry: () => void = () => undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    const closed = Promise.withResolvers<string>();
    this.closed = closed.promise;
    this.#close = (reason) => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#cancelEnquiry();
      options.socket.destroy();
      for (const tell of [...this.#waiting.values()]) tell(undefined);
      closed.resolve(reason);
    };
    const { socket } = options;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#close(`the connection broke (${error.code ?? error.name})`);
    });
    socket.on('close', () => this.#close('the gateway closed the connection'));
  }

  /** Call it once, before any other method. @throws {Error} saying why the gateway did not bind; the session is closed then. */
  async bind(credentials: { readonly systemId: string; readonly password: string }): Promise<void> {
    const response = await this.#ask(COMMANDS.bindTransceiver, bindBody(credentials));
    if (response?.status === STATUS.ok) {
      this.#enquireLater();
      return;
    }
    const why = response === undefined ? 'gave no answer' : `refused with ${hex(response.status)}`;
    this.#close(`the gateway ${why} to the bind`);
    throw new Error(`the gateway ${why} to the bind`);
  }

  /**
   * Submits a message once.
   *
   * @returns undefined where the gateway did not answer: it may have the message or not.
   * @throws {Error} where nothing was sent.
   */
  async submit(message: Submission): Promise<SubmitOutcome | undefined> {
    if (this.#isClosed) throw new Error('the session is closed');
    if (this.#waiting.size >= WINDOW_MAX) throw new Error('too many messages wait for an answer');
    const response = await this.#ask(COMMANDS.submit, submitBody(message));
    if (response === undefined) return undefined;
    if (response.status !== STATUS.ok) return { kind: 'refused', status: response.status };
    return { kind: 'taken', messageId: readMessageId(response.body) ?? null };
  }

  /** Says goodbye, and closes. Safe to call twice. */
  async end(): Promise<void> {
    if (!this.#isClosed) await this.#ask(COMMANDS.unbind, Buffer.alloc(0), 1000);
    this.#close('it was ended here');
  }

  /** Resolves with the response; undefined where none comes in time, or the connection is closed. */
  #ask(command: number, body: Buffer, limitMs = RESPONSE_MS_MAX): Promise<Pdu | undefined> {
    this.#sequence = this.#sequence >= SEQUENCE_MAX ? 1 : this.#sequence + 1;
    const sequence = this.#sequence;
    const { promise, resolve } = Promise.withResolvers<Pdu | undefined>();
    const cancel = this.#options.clock.after(limitMs, () => settle(undefined));
    const settle = (response: Pdu | undefined) => {
      cancel();
      this.#waiting.delete(sequence);
      resolve(response);
    };
    this.#waiting.set(sequence, settle);
    this.#send({ command, status: STATUS.ok, sequence, body });
    return promise;
  }

  #send(pdu: Pdu): void {
    if (!this.#isClosed) this.#options.socket.write(writePdu(pdu));
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    try {
      for (let next = readPdu(this.#received); next !== undefined; next = readPdu(next.rest)) {
        this.#received = next.rest;
        this.#serve(next.pdu);
      }
    } catch (error) {
      this.#close(messageOf(error));
    }
  }

  #serve(pdu: Pdu): void {
    if (pdu.command >= RESPONSE_BIT) {
      this.#waiting.get(pdu.sequence)?.(pdu);
      return;
    }
    switch (pdu.command) {
      case COMMANDS.deliver:
        void this.#deliver(pdu);
        break;
      case COMMANDS.enquireLink:
        this.#answer(pdu, STATUS.ok);
        break;
      case COMMANDS.unbind:
        this.#answer(pdu, STATUS.ok);
        this.#close('the gateway ended the session');
        break;
      default:
        this.#send({ ...pdu, command: GENERIC_NACK, status: STATUS.invalidCommand, body: EMPTY });
    }
  }

  async #deliver(pdu: Pdu): Promise<void> {
    if (this.#deliveries >= DELIVERIES_MAX) {
      this.#answer(pdu, STATUS.throttled, NO_ID);
      return;
    }
    this.#deliveries += 1;
    try {
      await this.#options.onDelivery(readDelivery(pdu.body));
      this.#answer(pdu, STATUS.ok, NO_ID);
    } catch (error) {
      // A malformed PDU is refused for good; after other errors the gateway sends it again.
      const isMalformed = error instanceof RangeError;
      this.#answer(pdu, isMalformed ? STATUS.malformed : STATUS.temporary, NO_ID);
    } finally {
      this.#deliveries -= 1;
    }
  }

  #answer({ command, sequence }: Pdu, status: number, body = EMPTY): void {
    this.#send({ command: command + RESPONSE_BIT, status, sequence, body });
  }

  #enquireLater(): void {
    this.#cancelEnquiry = this.#options.clock.after(ENQUIRE_MS, () => void this.#enquire());
  }

  async #enquire(): Promise<void> {
    const response = await this.#ask(COMMANDS.enquireLink, EMPTY);
    if (response === undefined) this.#close('the gateway no longer answers');
    else if (!this.#isClosed) this.#enquireLater();
  }
}

const EMPTY = Buffer.alloc(0);

/** `deliver_sm_resp` has an empty identifier. */
const NO_ID = Buffer.from([0]);

/** A status in the notation of SMPP's tables. */
export function hex(status: number): string {
  return `0x${status.toString(16).padStart(8, '0')}`;
}
