/** The connection to one SMPP gateway: bound, and bound again after every loss, until it is stopped. */
import { once } from 'node:events';
import { isIP, type LookupFunction, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { addressRefusal, type WebhookUrlRules } from '../../../domain/webhook/webhook-url.ts';
import { type Clock, TimeLimit, waitAtMost, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import type { Delivery } from './smpp-pdu.ts';
import { SmppSession } from './smpp-session.ts';

const CONNECT_MS_MAX = 10_000;

const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;

/** A gateway as it is connected to. */
export interface SmppPlace {
  /** `smpp://host:port`, or `smpps://…` for TLS. */
  readonly url: string;
  readonly systemId: string;
  readonly password: string;
}

interface LineOptions {
  readonly place: SmppPlace;
  /** Name for the log. */
  readonly name: string;
  readonly rules: WebhookUrlRules;
  readonly lookup: () => Promise<LookupFunction>;
  readonly onDelivery: (delivery: Delivery) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One gateway's connection. */
export class SmppLine {
  readonly #options: LineOptions;
  readonly #stop = new AbortController();
  readonly #stopped = once(this.#stop.signal, 'abort');
  #session: SmppSession | undefined;
  #bound = Promise.withResolvers<SmppSession>();
  #problem = 'it is not bound yet';
  #running: Promise<void> | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Connects, and reconnects until `stop`. Call it once. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends the session, bound or not, and connects no more. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('it was stopped'));
    await this.#running;
  }

  /** The bound session, which may take a moment. @throws {Error} saying why there is none in time. */
  async session(limitMs: number): Promise<SmppSession> {
    if (this.#session !== undefined) return this.#session;
    return within(this.#options.clock, limitMs, this.#bound.promise).catch(() => {
      throw new Error(this.#problem);
    });
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    let retryMs = RETRY_MS_MIN;
    while (!this.#stop.signal.aborted) {
      const beganMs = clock.nowMs();
      const problem = await this.#serve().catch((error: unknown) => messageOf(error));
      // A gateway that binds and hangs up at once is no better than one that is down.
      if (clock.nowMs() - beganMs >= RETRY_MS_MAX) retryMs = RETRY_MS_MIN;
      this.#lost(problem);
      await waitAtMost(clock, retryMs, this.#stopped);
      retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
    }
  }

  /** Binds one session. Resolves when it is over, with the reason. @throws {Error} saying why there was none. */
  async #serve(): Promise<string> {
    const { clock, log, name, onDelivery, place } = this.#options;
    const socket = await this.#connect();
    const session = new SmppSession({ socket, clock, onDelivery });
    const { signal } = this.#stop;
    const end = () => void session.end();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      await session.bind(place);
      log.info({ gateway: name }, 'SMPP gateway is bound');
      this.#session = session;
      this.#bound.resolve(session);
      return await session.closed;
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  /** Once for each reason: a gateway that is down for a night is no thousand lines. */
  #lost(problem: string): void {
    const { log, name } = this.#options;
    if (this.#session !== undefined) this.#bound = Promise.withResolvers();
    const isNew = this.#session !== undefined || problem !== this.#problem;
    this.#session = undefined;
    this.#problem = problem;
    if (isNew && !this.#stop.signal.aborted) {
      log.warn({ gateway: name, reason: problem }, 'SMPP gateway is not bound, will try again');
    }
  }

  async #connect() {
    const { clock, place, rules } = this.#options;
    const url = new URL(place.url);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Sockets do not look addresses up: a literal address is checked here.
    const refusal = isIP(host) === 0 ? undefined : addressRefusal(host, 'https:', rules);
    if (refusal !== undefined) throw new Error(refusal);
    const isSecure = url.protocol === 'smpps:';
    const to = { host, port: Number(url.port), lookup: await this.#options.lookup() };
    const { signal } = this.#stop;
    using limit = new TimeLimit(clock, CONNECT_MS_MAX, { signal, reason: 'it did not connect' });
    const socket = isSecure
      ? tlsConnect({ ...to, servername: isIP(host) === 0 ? host : '' })
      : tcpConnect(to);
    try {
      await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: limit.signal });
      return socket;
    } catch (error) {
      socket.destroy();
      throw limit.signal.aborted ? limit.signal.reason : error;
    }
  }
}
