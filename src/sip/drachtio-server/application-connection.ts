/** Connection to a drachtio client: reads commands, and writes responses and events in drachtio's wire format. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { SipMessage } from '../message/message.ts';
import { withPlainSession } from '../message/session-body.ts';
import type { Flow } from '../transport/flow.ts';
import {
  type ApplicationCommand,
  FrameError,
  FrameReader,
  formatFrame,
  parseCommand,
} from './client-protocol.ts';

/** A client that has stopped reading is cut off before its unread messages fill the memory. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** Message for the client, with the identifiers it is known by. */
export interface Delivery {
  readonly message: SipMessage;

  /** Undefined for messages made here. */
  readonly flow: Flow | undefined;
  readonly transactionId: string;

  /** Empty outside dialogs. */
  readonly dialogId: string;
}

interface ApplicationLinkOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onCommand: (command: ApplicationCommand) => void;
  readonly onClosed: () => void;
}

/** One drachtio client's connection. */
export class ApplicationLink {
  readonly #socket: Socket;
  readonly #options: ApplicationLinkOptions;
  readonly #frames = new FrameReader();
  #isGathering = false;

  constructor(options: ApplicationLinkOptions) {
    const { socket, logger, onClosed } = options;
    this.#socket = socket;
    this.#options = options;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => logger.warn({ err: error }, 'application connection failed'));
    socket.on('close', onClosed);
  }

  /** Confirms a command, with the message as sent. */
  confirm(commandId: string, delivery: Delivery): void {
    const fields = ['response', commandId, 'OK', 'application', ...this.#meta(delivery)];
    this.#send(`${fields.join('|')}\r\n`, delivery.message.toBuffer());
  }

  /** Confirms a command that sends no message. */
  accept(commandId: string, ...details: string[]): void {
    this.#send(['response', commandId, 'OK', ...details].join('|'));
  }

  /** Refuses a command, with the reason. */
  refuse(commandId: string, reason: string): void {
    this.#send(`response|${commandId}|NOK|${reason.replace(/[|\r\n]/g, ' ')}`);
  }

  /** Delivers a message of a peer. Of a multipart body only the session description: the client reads nothing else. */
  deliver({ message: whole, ...delivery }: Delivery): void {
    const { flow } = delivery;
    const message = withPlainSession(whole);
    const receivedOn = flow === undefined ? ['', '0'] : [flow.local.address, `${flow.local.port}`];
    const fields = ['sip', 'network', ...this.#meta({ ...delivery, message }), ...receivedOn];
    this.#send(`${fields.join('|')}|\r\n`, message.toBuffer());
  }

  /** Reports a request that was sent without a command. */
  deliverUnsolicited(message: SipMessage, dialogId: string): void {
    const delivery = { message, flow: undefined, transactionId: 'unsolicited', dialogId };
    const fields = ['sip', 'application', ...this.#meta(delivery)];
    this.#send(`${fields.join('|')}|\r\n`, message.toBuffer());
  }

  /** Closes the connection after the pending writes. */
  end(): void {
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    const { logger, onCommand } = this.#options;
    try {
      for (const payload of this.#frames.push(chunk)) onCommand(parseCommand(payload));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      logger.warn({ reason: error.message }, 'application connection broken');
      this.#socket.destroy();
    }
  }

  /** Length, protocol, address, port, time, transaction, dialog. */
  #meta({ message, flow, transactionId, dialogId }: Delivery): string[] {
    return [
      `${message.body.length}`,
      flow?.protocol.toLowerCase() ?? 'udp',
      flow?.remote.address ?? '',
      `${flow?.remote.port ?? 0}`,
      this.#options.clock.now().toISOString(),
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

  /** Corks the socket until the end of the turn of the event loop: one system call, and one wake-up of the reader. */
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
