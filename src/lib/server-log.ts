/** The newest warnings and errors of the log, for the dashboard: message and ids of ours, no other field; in bounded memory. */
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** Keeps a fixed number of items; a newer one takes the place of the oldest. */
export class RecentItems<Item> {
  readonly #kept: Item[] = [];
  readonly #max: number;

  /** @param max items, 1 at least. */
  constructor(max: number) {
    this.#max = max;
  }

  add(item: Item): void {
    this.#kept.push(item);
    if (this.#kept.length > this.#max) this.#kept.shift();
  }

  newestFirst(): readonly Item[] {
    return this.#kept.toReversed();
  }
}

/** Some 300 KB at most. */
export const SERVER_LOG_MAX = 1000;

/** Messages are constants of the code, all of them shorter. */
const MESSAGE_CHARACTERS_MAX = 300;

/** Levels that are kept. */
export const SERVER_LOG_LEVELS = ['warn', 'error'] as const;

type ServerLogLevel = (typeof SERVER_LOG_LEVELS)[number];

interface ServerLogEntry {
  readonly at: Date;
  readonly level: ServerLogLevel;
  /** Word before the message's colon, such as `http`; `server` where there is none. */
  readonly component: string;
  /** Message as the code has it; words, numbers and secrets are fields of a line, which are left out here. */
  readonly message: string;
  /** Code of the error, such as `ECONNREFUSED`; null where the line names none. */
  readonly code: string | null;
  /** The request that it is about; null where the line names none. */
  readonly requestId: string | null;
}

/** Keeps warnings and errors in memory at every LOG_LEVEL. They end with the process. */
export class ServerLog {
  readonly startedAt: Date;
  readonly #clock: Clock;
  readonly #entries = new RecentItems<ServerLogEntry>(SERVER_LOG_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAt = clock.now();
  }

  /** The same log; warnings and errors that it and its children write are kept here as well. */
  watching(log: Logger): Logger {
    return {
      debug: (fields, message) => log.debug(fields, message),
      info: (fields, message) => log.info(fields, message),
      warn: (fields, message) => {
        this.#add('warn', fields, message);
        log.warn(fields, message);
      },
      error: (fields, message) => {
        this.#add('error', fields, message);
        log.error(fields, message);
      },
      child: (bindings) => this.watching(log.child(bindings)),
    };
  }

  newestFirst(): readonly ServerLogEntry[] {
    return this.#entries.newestFirst();
  }

  #add(level: ServerLogLevel, fields: object, message: string): void {
    const { err, requestId } = fields as { readonly err?: unknown; readonly requestId?: unknown };
    this.#entries.add({
      at: this.#clock.now(),
      level,
      component: COMPONENT.exec(message)?.[1] ?? 'server',
      message: message.slice(0, MESSAGE_CHARACTERS_MAX),
      code: textLike(CODE, (err as { readonly code?: unknown } | undefined)?.code),
      requestId: textLike(REQUEST_ID, requestId),
    });
  }
}

const COMPONENT = /^([a-z]{2,20}): /;

/** Codes of Node, SQLite and ours: upper case alone, so that no word or number passes. */
const CODE = /^[A-Z][A-Z_]{2,60}$/;

const REQUEST_ID = /^req_\w{1,40}$/;

function textLike(pattern: RegExp, value: unknown): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}
