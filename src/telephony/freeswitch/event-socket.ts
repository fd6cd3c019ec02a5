/** Command connection to FreeSWITCH's event socket; closes when a reply is overdue. */
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';

/** A server that is well answers within milliseconds. */
const ANSWER_MS_MAX = 3_000;

/** FreeSWITCH's highest log level: output of commands, without log messages of its own. */
const CONSOLE_LEVEL = 0;

/** More commands than that wait for no server that is well. */
const COMMANDS_MAX = 1_000;

interface EventSocketOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly clock: Clock;
  /** Called with each console log line, and the identifier of its leg. */
  readonly onLine?: (uuid: string, line: string) => void;
  /** Called once when a connection that was open is lost, with the reason. */
  readonly onLost: (reason: string) => void;
}

interface Command {
  readonly resolve: (message: EventSocketMessage) => void;
  readonly reject: (error: Error) => void;
}

/** One authenticated event-socket connection. */
export class EventSocket {
  readonly #options: EventSocketOptions;
  readonly #socket: Socket;
  readonly #reader = new EventSocketReader();
  readonly #waiting: Command[] = [];
  readonly #asked = Promise.withResolvers<void>();
  #isOpen = false;
  #isClosed = false;

  private constructor(options: EventSocketOptions) {
    const { host, port } = options;
    this.#options = options;
    this.#asked.promise.catch(() => undefined);
    this.#socket = connect({ host, port, keepAlive: true, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#fail(error.message));
    this.#socket.on('close', () => this.#fail('it closed the connection'));
  }

  /**
   * Connects and logs in.
   *
   * @throws {EventSocketError} saying why the server cannot be used.
   */
  static async open(options: EventSocketOptions): Promise<EventSocket> {
    const connection = new EventSocket(options);
    try {
      await connection.#within(connection.#asked.promise);
      const reply = await connection.#send(`auth ${options.secret}`);
      if (!reply.headers.get('reply-text')?.startsWith('+OK')) {
        throw new EventSocketError('it refused the secret');
      }
      if (options.onLine !== undefined) await connection.#send(`log ${CONSOLE_LEVEL}`);
    } catch (error) {
      connection.close();
      throw error;
    }
    connection.#isOpen = true;
    return connection;
  }

  /** Our own address, as the server reaches it. */
  get localAddress(): string {
    return this.#socket.localAddress ?? '127.0.0.1';
  }

  /**
   * Runs a console command.
   *
   * @returns its output.
   * @throws {EventSocketError} without a reply in time; the connection is closed then, because a late reply would be
   * taken for the next command's.
   */
  async api(command: string): Promise<string> {
    const { body } = await this.#send(`api ${command}`);
    return body;
  }

  /** Safe to call twice. */
  close(): void {
    this.#isOpen = false;
    this.#fail('closed');
  }

  #send(line: string): Promise<EventSocketMessage> {
    if (this.#isClosed) return Promise.reject(new EventSocketError('the connection is closed'));
    if (this.#waiting.length >= COMMANDS_MAX) {
      return Promise.reject(new EventSocketError('too many commands wait for an answer'));
    }
    const answered = Promise.withResolvers<EventSocketMessage>();
    this.#waiting.push(answered);
    this.#socket.write(`${line}\n\n`);
    return this.#within(answered.promise);
  }

  async #within<T>(promise: Promise<T>): Promise<T> {
    const cancel = this.#options.clock.after(ANSWER_MS_MAX, () =>
      this.#fail(`no answer came within ${ANSWER_MS_MAX / 1000} s`),
    );
    try {
      return await promise;
    } finally {
      cancel();
    }
  }

  #read(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) this.#handle(message);
    } catch (error) {
      if (!(error instanceof EventSocketError)) throw error;
      this.#fail(error.message);
    }
  }

  #handle(message: EventSocketMessage): void {
    switch (message.headers.get('content-type')) {
      case 'auth/request':
        this.#asked.resolve();
        break;
      case 'command/reply':
      case 'api/response':
        this.#waiting.shift()?.resolve(message);
        break;
      case 'log/data':
        this.#options.onLine?.(message.headers.get('user-data') ?? '', message.body);
        break;
      case 'text/rude-rejection':
        this.#fail('it takes no connections from our address (FREESWITCH_EVENT_TRUSTED)');
        break;
      case 'text/disconnect-notice':
        this.#fail('it said goodbye');
        break;
      default:
        break;
    }
  }

  #fail(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    const error = new EventSocketError(reason);
    this.#asked.reject(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    if (this.#isOpen) this.#options.onLost(reason);
  }
}

/** One message. Header names are in lower case. */
interface EventSocketMessage {
  readonly headers: ReadonlyMap<string, string>;
  /** Empty without a body. */
  readonly body: string;
}

/** Failure of the event socket or of its protocol. */
export class EventSocketError extends Error {
  override readonly name = 'EventSocketError';
}

const HEAD_BYTES_MAX = 64 * 1024;
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** @see https://developer.signalwire.com/freeswitch, mod_event_socket */
export class EventSocketReader {
  #unread = Buffer.alloc(0);

  /**
   * Adds received octets.
   *
   * @returns the messages completed.
   * @throws {EventSocketError} for malformed input; the connection is unusable then.
   */
  push(chunk: Buffer): EventSocketMessage[] {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    const messages: EventSocketMessage[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) messages.push(next);
    return messages;
  }

  #next(): EventSocketMessage | undefined {
    const headEnd = this.#unread.indexOf('\n\n');
    if (headEnd > HEAD_BYTES_MAX || (headEnd < 0 && this.#unread.length > HEAD_BYTES_MAX)) {
      throw new EventSocketError('Cannot read FreeSWITCH: its header does not end');
    }
    if (headEnd < 0) return undefined;
    const headers = headersOf(this.#unread.toString('utf8', 0, headEnd));
    const length = Number(headers.get('content-length') ?? 0);
    if (!Number.isInteger(length) || length < 0 || length > BODY_BYTES_MAX) {
      throw new EventSocketError('Cannot read FreeSWITCH: its Content-Length is out of range');
    }
    const bodyStart = headEnd + 2;
    if (this.#unread.length < bodyStart + length) return undefined;
    const body = this.#unread.toString('utf8', bodyStart, bodyStart + length);
    this.#unread = this.#unread.subarray(bodyStart + length);
    return { headers, body };
  }
}

function headersOf(head: string): ReadonlyMap<string, string> {
  const lines = head.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new EventSocketError('Cannot read FreeSWITCH: a header has no name');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
