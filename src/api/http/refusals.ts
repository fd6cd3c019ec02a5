/** What is answered to requests that never come to the interface, or that it failed at. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  ANONYMOUS_REQUESTS_AN_HOUR,
  type RateStore,
  windowOf,
} from '../../domain/account/rate-limit.ts';
import type { NewId } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import { clientOf } from './client-address.ts';
import { errorBody } from './errors.ts';
import { API_VERSION } from './request-identity.ts';

export interface RefusalOptions {
  readonly newId: NewId;
  readonly clock: Clock;
  /** Counts, for its address, a request that cannot be read; without it their answers say nothing about limits. */
  readonly rates?: RateStore;
  readonly log?: Logger;
}

/** A response that the server writes itself. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Seconds, as text. */
const RETRY_AFTER = '5';

/** Makes error responses with the envelope for requests that never reached a route. */
export class Refusals {
  readonly #options: RefusalOptions;

  constructor(options: RefusalOptions) {
    this.#options = options;
  }

  /** @param address of the client, for whom it is counted; undefined when it is gone. */
  async unreadable(why: string, address: string | undefined): Promise<Refusal> {
    const error = new ServiceError('VALIDATION_ERROR', `Cannot read the request: ${why}`);
    return this.#envelope(error, await this.#rateHeaders(address));
  }

  /** Errors other than `ServiceError` become `INTERNAL_ERROR`, without details. */
  of(error: unknown): Refusal {
    const known = error instanceof ServiceError ? error : SERVER_FAILED;
    return this.#envelope(known, known.status === 503 ? { 'Retry-After': RETRY_AFTER } : {});
  }

  /** A request with an unreadable key counts as one without a key. */
  async #rateHeaders(address: string | undefined): Promise<Readonly<Record<string, string>>> {
    const { rates, clock, log = silentLogger } = this.#options;
    if (rates === undefined) return {};
    const window = windowOf(clock.now());
    const headers = {
      'X-RateLimit-Limit': String(ANONYMOUS_REQUESTS_AN_HOUR),
      'X-RateLimit-Reset': String(window.endsAt.getTime() / 1000),
    };
    try {
      const left =
        ANONYMOUS_REQUESTS_AN_HOUR - (await rates.count(`address:${clientOf(address)}`, window));
      return { ...headers, 'X-RateLimit-Remaining': String(Math.max(0, left)) };
    } catch (error) {
      log.error({ err: error }, 'http: request not counted');
      return { ...headers, 'X-RateLimit-Remaining': '0' };
    }
  }

  #envelope(error: ServiceError, headers: Readonly<Record<string, string>> = {}): Refusal {
    const requestId = this.#options.newId('req');
    const body = JSON.stringify(errorBody(error, requestId));
    const every = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      'X-API-Version': API_VERSION,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    };
    return { status: error.status, headers: every, body };
  }
}

const SERVER_FAILED = new ServiceError('INTERNAL_ERROR', 'Cannot answer: the server failed');

/** Time limit for the client to close its side, in milliseconds. */
const LINGER_MS = 2000;

export function answerRaw(socket: Duplex, clock: Clock, { status, headers, body }: Refusal): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  hangUp(socket, clock);
}

/** Ends the connection once everything is sent; what still comes is dropped, because a reset could take the response away. */
function hangUp(socket: Duplex, clock: Clock): void {
  socket.end();
  socket.resume();
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', cancel);
}
