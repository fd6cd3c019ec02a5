/** One connection to a drachtio client: what is told it, in its own wire format. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import { withPlainSession } from '../message/session-body.ts';
import type { Flow } from '../transport/flow.ts';
import { formatFrame } from './client-protocol.ts';

/** A client that has stopped reading is cut off before its unread messages fill the memory. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** A message on its way up, and what the client will know it by. */
export interface Delivery {
  readonly message: SipMessage;

  /** Undefined for messages made here, which came over no flow. */
  readonly flow: Flow | undefined;
  readonly transactionId: string;

  /** Empty where there is no dialog. */
  readonly dialogId: string;
}

export class ApplicationLink {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #isGathering = false;

  constructor(options: { socket: Socket; clock: Clock }) {
    this.#socket = options.socket;
    this.#clock = options.clock;
  }

  /** Says that a command was carried out; with the message as it was sent, where one was. */
  confirm(commandId: string, delivery: Delivery): void {
    const fields = ['response', commandId, 'OK', 'application', ...this.#meta(delivery)];
    this.#send(`${fields.join('|')}\r\n`, delivery.message.toBuffer());
  }

  /** Says that a command without message was carried out. */
  accept(commandId: string, ...details: string[]): void {
    this.#send(['response', commandId, 'OK', ...details].join('|'));
  }

  /** Says why a command was not carried out. */
  refuse(commandId: string, reason: string): void {
    this.#send(`response|${commandId}|NOK|${reason.replace(/[|\r\n]/g, ' ')}`);
  }

  /** Passes on what came from a peer; of a body of several parts the session description alone, which is all that the client reads. */
  deliver({ message: whole, ...delivery }: Delivery): void {
    const { flow } = delivery;
    const message = withPlainSession(whole);
    const receivedOn = flow === undefined ? ['', '0'] : [flow.local.address, `${flow.local.port}`];
    const fields = ['sip', 'network', ...this.#meta({ ...delivery, message }), ...receivedOn];
    this.#send(`${fields.join('|')}|\r\n`, message.toBuffer());
  }

  /** Tells of a request that was sent without the client having asked for it. */
  deliverUnsolicited(message: SipMessage, dialogId: string): void {
    const delivery = { message, flow: undefined, transactionId: 'unsolicited', dialogId };
    const fields = ['sip', 'application', ...this.#meta(delivery)];
    this.#send(`${fields.join('|')}|\r\n`, message.toBuffer());
  }

  /** Closes the connection once what has been said is sent. */
  end(): void {
    this.#socket.end();
  }

  /** Length, protocol, address, port, time, transaction, dialog. */
  #meta({ message, flow, transactionId, dialogId }: Delivery): string[] {
    return [
      `${message.body.length}`,
      flow?.protocol.toLowerCase() ?? 'udp',
      flow?.remote.address ?? '',
      `${flow?.remote.port ?? 0}`,
      this.#clock.now().toISOString(),
      transactionId,
      dialogId,
    ];
  }

  #send(line: string, octets?: Buffer): void {
    if (this.#socket.destroyed) return;
    this.#gather();
    this.#socket.write(formatFrame(`${randomUUID()}|${line}`, octets));
    if (this.#socket.writableLength > UNREAD_BYTES_MAX) this.#socket.destroy();
  }

  /** What is said in one turn of the event loop leaves together: one system call, and one wake-up of whoever reads it. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#socket.cork();
    setImmediate(() => {
      this.#isGathering = false;
      this.#socket.uncork();
    });
  }
}
