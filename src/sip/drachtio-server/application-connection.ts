/** Connection to a drachtio client: its frames, commands and messages, and our responses and events to it. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { canonicalName } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import { withPlainSession } from '../message/session-body.ts';
import { SipError } from '../message/status.ts';
import type { MessageParts, ResponseParts } from '../own-messages.ts';
import type { Flow } from '../transport/flow.ts';

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

  /** Delivers a peer's message. A multipart body is reduced to its session description: the client reads only that. */
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

/** Message that an application wants sent. Text is Unicode, unlike in `SipMessage`. */
export interface ApplicationMessage {
  /** Empty in responses. */
  readonly method: string;
  readonly uri: string;

  /** 0 in requests. */
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Headers that the engine writes, or that have a parameter of their own. */
const LEFT_OUT = new Set(
  'via from to call-id cseq contact content-length content-type max-forwards record-route route'.split(
    ' ',
  ),
);

/**
 * Parses a message. Ignores its Content-Length: the client counts characters, not octets.
 *
 * @throws {SipError} 400 for an invalid start line.
 */
export function parseApplicationMessage(octets: Buffer): ApplicationMessage {
  const headEnd = octets.indexOf('\r\n\r\n');
  const head = octets.toString('utf8', 0, headEnd === -1 ? octets.length : headEnd);
  const [startLine = '', ...lines] = head.split('\r\n');
  return {
    ...parseStartLine(startLine),
    headers: lines.map(parseHeader).filter((header) => header !== undefined),
    body: headEnd === -1 ? Buffer.alloc(0) : octets.subarray(headEnd + 4),
  };
}

/** First value of a header; undefined without one. */
export function headerOf(message: ApplicationMessage, name: string): string | undefined {
  return message.headers.find((header) => header[0] === name)?.[1];
}

/**
 * Parts of a message that the engine is to send as they are.
 *
 * @param isOfRegistrar whether it answers a REGISTER: its Contact lists bindings then.
 */
export function partsOf(message: ApplicationMessage, isOfRegistrar = false): MessageParts {
  const headers: Record<string, string[]> = {};
  const isRedirect = message.status >= 300 && message.status < 400;
  for (const [name, value] of message.headers) {
    const isTheirs = name === 'contact' && (isRedirect || isOfRegistrar);
    if (LEFT_OUT.has(name) && !isTheirs) continue;
    headers[name] = [...(headers[name] ?? []), value];
  }
  const contentType = headerOf(message, 'content-type');
  return {
    headers,
    ...(message.body.length > 0 && { body: message.body }),
    ...(contentType !== undefined && { contentType }),
  };
}

/** The same of a response, with the phrase that the application chose. */
export function responsePartsOf(message: ApplicationMessage, isOfRegistrar = false): ResponseParts {
  return {
    ...partsOf(message, isOfRegistrar),
    ...(message.reason !== '' && { reason: message.reason }),
  };
}

function parseStartLine(line: string): Omit<ApplicationMessage, 'headers' | 'body'> {
  const response = /^SIP\/2\.0 (\d{3}) ?(.*)$/.exec(line);
  if (response !== null) {
    const [, status, reason = ''] = response;
    return { method: '', uri: '', status: Number(status), reason };
  }
  const [method = '', uri = '', version] = line.split(' ');
  if (version !== 'SIP/2.0') throw new SipError(400, 'Bad start line');
  return { method, uri, status: 0, reason: '' };
}

/** The client writes `undefined` for headers that it was given no value for. */
function parseHeader(line: string): [name: string, value: string] | undefined {
  const colon = line.indexOf(':');
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || value === '' || value === 'undefined') return undefined;
  return [canonicalName(line.slice(0, colon).trim()), value];
}

/**
 * One command.
 *
 * ```
 * <id>|authenticate|<secret>|<tags>
 * <id>|ping
 * <id>|route|<method>
 * <id>|remove_route|<method>
 * <id>|sip|<transaction>|<dialog>|<proxy> CR LF <message>
 * ```
 */
export interface ApplicationCommand {
  readonly id: string;
  readonly verb: string;

  /** Fields after the verb, up to the end of the line. */
  readonly fields: readonly string[];

  /** Octets after the line; may be empty. */
  readonly octets: Buffer;
}

/** Splits a frame's payload. */
function parseCommand(payload: Buffer): ApplicationCommand {
  const lineEnd = payload.indexOf('\r\n');
  const line = payload.toString('utf8', 0, lineEnd === -1 ? payload.length : lineEnd);
  const [id = '', verb = '', ...fields] = line.split('|');
  const octets = lineEnd === -1 ? Buffer.alloc(0) : payload.subarray(lineEnd + 2);
  return { id, verb, fields, octets };
}

/** Limit of a frame: the longest SIP message and the line of fields before it. */
const FRAME_BYTES_MAX = 131_072;

/** Enough digits for the longest frame. */
const LENGTH_DIGITS_MAX = 6;

const HASH = 0x23;

/** Invalid frame: the connection must be closed. */
class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Reads frames off one connection.
 *
 * ```
 * <length in octets> # <payload>
 * ```
 */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /**
   * Takes octets in and gives the payloads they complete, in order.
   *
   * @throws {FrameError} when a frame has no length, or one that is too great.
   */
  push(chunk: Buffer): Buffer[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const payloads: Buffer[] = [];
    for (let payload = this.#next(); payload !== undefined; payload = this.#next()) {
      payloads.push(payload);
    }
    return payloads;
  }

  #next(): Buffer | undefined {
    const hash = this.#pending.subarray(0, LENGTH_DIGITS_MAX + 1).indexOf(HASH);
    if (hash === -1) {
      if (this.#pending.length > LENGTH_DIGITS_MAX) throw new FrameError('Bad frame length');
      return undefined;
    }
    const end = hash + 1 + parseLength(this.#pending.toString('latin1', 0, hash));
    if (this.#pending.length < end) return undefined;
    const payload = this.#pending.subarray(hash + 1, end);
    this.#pending = this.#pending.subarray(end);
    return payload;
  }
}

/** Formats one frame whose payload is a line, followed by octets. */
export function formatFrame(line: string, octets: Buffer = Buffer.alloc(0)): Buffer {
  const lengthBytes = Buffer.byteLength(line) + octets.length;
  return Buffer.concat([Buffer.from(`${lengthBytes}#${line}`), octets]);
}

function parseLength(text: string): number {
  const length = /^\d+$/.test(text) ? Number(text) : 0;
  if (length === 0 || length > FRAME_BYTES_MAX) throw new FrameError('Bad frame length');
  return length;
}
