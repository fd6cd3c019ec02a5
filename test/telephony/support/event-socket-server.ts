/** FreeSWITCH's event socket as the phone server meets it, in whatever mood the test needs. No sound, no channels. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export const EVENT_SECRET = 'only for tests';

/**
 * How it behaves:
 *
 * - `well`: logs in, answers every command.
 * - `mute`: takes connections and says nothing, as a machine that hangs does.
 * - `rude`: turns our address away.
 * - `garbage`: speaks something else.
 * - `bare`: has none of the profiles.
 * - `starting`: takes commands, and no calls yet.
 */
export type Mood = 'well' | 'mute' | 'rude' | 'garbage' | 'bare' | 'starting';

export interface EventSocketServerOptions {
  /** What `sofia status` shows; nothing unless said otherwise. */
  readonly sofiaStatus?: () => string;
  /** Answers any other command; `+OK` unless said otherwise. */
  readonly onApi?: (command: string) => string | undefined;
}

export class EventSocketServer {
  /** All commands that came, oldest first, without their `api`. */
  readonly commands: string[] = [];
  mood: Mood = 'well';
  readonly #options: EventSocketServerOptions;
  readonly #sockets = new Set<Socket>();
  /** Those that want the log. */
  readonly #logging = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: EventSocketServerOptions = {}) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** How many are connected. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** On the same port as before, when it was started before. */
  async start(): Promise<void> {
    const server = createServer((socket) => this.#welcome(socket));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
    this.#server = server;
  }

  /** Dies: every connection is cut and no new one taken. Safe to call twice. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  /** Logs a line for the console, about a leg. */
  log(uuid: string, line: string): void {
    const head = `Content-Type: log/data\nContent-Length: ${line.length}\nLog-Level: 0\nUser-Data: ${uuid}\n\n`;
    for (const socket of this.#logging) socket.write(head + line);
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#logging.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    if (this.mood === 'mute') return;
    if (this.mood === 'garbage') return void socket.write('HTTP/1.1 400 Bad Request\n\n');
    if (this.mood === 'rude') {
      socket.end(
        'Content-Type: text/rude-rejection\nContent-Length: 24\n\nAccess Denied, go away.\n',
      );
      return;
    }
    socket.write('Content-Type: auth/request\n\n');
    let unread = '';
    socket.on('data', (chunk: Buffer) => {
      unread += chunk.toString();
      const commands = unread.split('\n\n');
      unread = commands.pop() ?? '';
      for (const command of commands) this.#answer(socket, command);
    });
  }

  #answer(socket: Socket, command: string): void {
    if (this.mood === 'mute') return;
    if (command.startsWith('auth ')) {
      const isRight = command === `auth ${EVENT_SECRET}`;
      const reply = isRight ? '+OK accepted' : '-ERR invalid';
      const mark = isRight ? 'Modesl-Reply-OK: accepted\n' : '';
      socket.write(`Content-Type: command/reply\nReply-Text: ${reply}\n${mark}\n`);
    } else if (command.startsWith('api ')) {
      const body = this.#run(command.slice(4));
      const head = `Content-Type: api/response\nContent-Length: ${Buffer.byteLength(body)}\n\n`;
      socket.write(head + body);
    } else {
      if (command === 'log 0') this.#logging.add(socket);
      socket.write('Content-Type: command/reply\nReply-Text: +OK\n\n');
    }
  }

  #run(command: string): string {
    this.commands.push(command);
    const { sofiaStatus, onApi } = this.#options;
    if (command === 'status') {
      return `FreeSWITCH (Version 1.10) is ${this.mood === 'starting' ? 'not ready' : 'ready'}\n`;
    }
    if (command === 'sofia status') return this.mood === 'bare' ? '' : (sofiaStatus?.() ?? '');
    return onApi?.(command) ?? '+OK\n';
  }
}
