/** One connection of a drachtio client: its frames, its log-in, its end. */
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ApplicationCommand } from './application-command.ts';
import { parseCommand } from './application-command.ts';
import { ApplicationLink } from './application-link.ts';
import type { ApplicationSession } from './application-session.ts';
import { FrameError, FrameReader } from './frame-reader.ts';

/** Who has not said the secret by then is not going to. */
const LOG_IN_MS_MAX = 5_000;

/** What a log-in comes to: a session and what the client is told, or why there is none. */
export type LogIn =
  | { readonly session: ApplicationSession; readonly details: readonly string[] }
  | { readonly refusal: string };

export interface ApplicationConnectionOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logIn: (secret: string, link: ApplicationLink) => LogIn;

  /** Called once, after the socket has closed; without a session where none was begun. */
  readonly onClosed: (session: ApplicationSession | undefined) => void;
}

export class ApplicationConnection {
  readonly #options: ApplicationConnectionOptions;
  readonly #link: ApplicationLink;
  readonly #frames = new FrameReader();
  readonly #cancelTimer: () => void;
  #session: ApplicationSession | undefined;

  constructor(options: ApplicationConnectionOptions) {
    const { socket, clock, logger } = options;
    this.#options = options;
    this.#link = new ApplicationLink({ socket, clock });
    this.#cancelTimer = clock.after(LOG_IN_MS_MAX, () => socket.destroy());
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => logger.warn({ err: error }, 'application connection failed'));
    socket.on('close', () => {
      this.#cancelTimer();
      options.onClosed(this.#session);
    });
  }

  #read(chunk: Buffer): void {
    try {
      for (const payload of this.#frames.push(chunk)) this.#handle(parseCommand(payload));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#options.logger.warn({ reason: error.message }, 'application connection broken');
      this.#options.socket.destroy();
    }
  }

  #handle(command: ApplicationCommand): void {
    if (this.#session !== undefined) void this.#session.handle(command);
    else if (command.verb === 'authenticate') this.#logIn(command);
    else this.#turnAway(command.id, 'not authenticated');
  }

  #logIn({ id, fields }: ApplicationCommand): void {
    const outcome = this.#options.logIn(fields[0] ?? '', this.#link);
    if ('refusal' in outcome) {
      this.#turnAway(id, outcome.refusal);
      return;
    }
    this.#cancelTimer();
    this.#session = outcome.session;
    this.#link.accept(id, ...outcome.details);
  }

  #turnAway(commandId: string, reason: string): void {
    this.#options.logger.warn({ reason }, 'application refused');
    this.#link.refuse(commandId, reason);
    this.#link.end();
  }
}
