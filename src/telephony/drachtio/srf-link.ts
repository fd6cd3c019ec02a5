/** The connection to a drachtio server, or to the embedded engine that speaks its protocol: kept up for ever. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { within } from '../limit.ts';
import type { SrfClient } from './srf.ts';
import { openSrf, reasonOf } from './srf.ts';

const RETRY_MS_MIN = 250;
/** A server that is back finds callers who wait to be told that their calls are over. */
const RETRY_MS_MAX = 3_000;

/** A server that is well answers within milliseconds. */
const KNOWN_MS_MAX = 1_000;

export interface SrfLinkOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Made here when not given. */
  readonly srf?: SrfClient;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One place where the server takes SIP, as drachtio writes it: `udp/192.0.2.1:5060`. */
export interface SipAddress {
  readonly transport: string;
  readonly hostPort: string;
}

export interface SrfLinkListener {
  connected(): void;
  lost(): void;
}

/** Reconnects by itself; one `SrfClient` for its whole life, so that its dialogs outlive a short loss. */
export class SrfLink {
  readonly srf: SrfClient;
  readonly #options: SrfLinkOptions;
  readonly #listener: SrfLinkListener;
  #state: 'stopped' | 'connecting' | 'connected' | 'waiting' = 'stopped';
  #addresses: readonly SipAddress[] = [];
  #problem = 'not started';
  #retryMs = RETRY_MS_MIN;
  #attempt = 0;
  #isLoggedIn = false;
  #cancelRetry: () => void = () => {};
  #settleStart: (error?: Error) => void = () => {};

  constructor(options: SrfLinkOptions, listener: SrfLinkListener) {
    this.#options = options;
    this.#listener = listener;
    this.srf = options.srf ?? openSrf();
    this.srf.on('connect', (error, ...hostPorts) => this.#onConnect(error, hostPorts));
    this.srf.on('error', (error) => this.#onError(error));
    this.srf.on('close', () => this.#onClose());
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Where the server takes SIP; empty until it has said so. */
  get addresses(): readonly SipAddress[] {
    return this.#addresses;
  }

  /** Why there is no connection. */
  get problem(): string {
    return this.#problem;
  }

  /**
   * Resolves when the first attempt has succeeded or failed; a server that is not there yet is tried again.
   *
   * @throws {Error} when the server refuses the secret.
   */
  start(): Promise<void> {
    if (this.#state !== 'stopped') return Promise.resolve();
    const settled = new Promise<void>((resolve, reject) => {
      this.#settleStart = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#connect();
    return settled;
  }

  stop(): void {
    this.#state = 'stopped';
    this.#problem = 'stopped';
    this.#cancelRetry();
    this.#settleStart();
    if (this.#isLoggedIn) this.srf.disconnect();
    this.#isLoggedIn = false;
  }

  #connect(): void {
    const { host, port, secret } = this.#options;
    this.#state = 'connecting';
    // The library's own retries cannot be stopped, so each connection is one attempt of its.
    this.srf.connect({ host, port, secret, reconnect: { maxAttempts: 1 } });
  }

  #onConnect(error: unknown, hostPorts: readonly unknown[]): void {
    if (this.#state === 'stopped') {
      this.srf.disconnect();
      return;
    }
    if (error) {
      this.#problem = `the server at ${this.#place} refused the secret`;
      this.#settleStart(new Error(`Cannot use SIP server "${this.#place}": it refused the secret`));
      return;
    }
    this.#isLoggedIn = true;
    this.#addresses = addressesOf(hostPorts);
    void this.#beReady();
  }

  /** Calls that come before the server knows that we want them get 503 from it. */
  async #beReady(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    await this.#routesAreKnown();
    if (this.#state !== 'connecting' || attempt !== this.#attempt) return;
    this.#state = 'connected';
    this.#retryMs = RETRY_MS_MIN;
    this.#settleStart();
    this.#listener.connected();
  }

  /**
   * What we want was said along with the log-in, and nobody tells when it was heard. But the server takes commands one
   * after the other: when it has refused one within a dialog that there is not, it has heard those before.
   */
  async #routesAreKnown(): Promise<void> {
    const refused = new Promise<void>((resolve) => {
      const nothing = { method: 'OPTIONS', stackDialogId: 'none' };
      this.srf.request('sip:placeholder', nothing, () => resolve());
    });
    // One that says nothing of it is there all the same.
    await within(this.#options.clock, KNOWN_MS_MAX, refused).catch(() => undefined);
  }

  #onError(error: Error): void {
    this.#problem = `no connection to the server at ${this.#place}: ${reasonOf(error)}`;
  }

  #onClose(): void {
    this.#isLoggedIn = false;
    if (this.#state === 'stopped' || this.#state === 'waiting') return;
    const wasConnected = this.#state === 'connected';
    const { clock, log } = this.#options;
    this.#state = 'waiting';
    if (wasConnected) this.#problem = `the server at ${this.#place} closed the connection`;
    log.warn({ retryMs: this.#retryMs, problem: this.#problem }, 'SIP server is out of reach');
    this.#cancelRetry = clock.after(this.#retryMs, () => this.#connect());
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
    this.#settleStart();
    if (wasConnected) this.#listener.lost();
  }

  get #place(): string {
    return `${this.#options.host}:${this.#options.port}`;
  }
}

/** The `connect` event has lists such as `udp/127.0.0.1:5060,tcp/127.0.0.1:5060`, and a version among them. */
function addressesOf(hostPorts: readonly unknown[]): readonly SipAddress[] {
  const texts = hostPorts.flatMap((value) => (typeof value === 'string' ? value.split(',') : []));
  const found = texts.flatMap((text) => {
    const [, transport, hostPort] = /^(udp|tcp|tls|ws|wss)\/(.+)$/.exec(text.trim()) ?? [];
    return transport && hostPort ? [{ transport, hostPort }] : [];
  });
  const distinct = found.filter(
    (address, at) =>
      found.findIndex(
        ({ transport, hostPort }) =>
          transport === address.transport && hostPort === address.hostPort,
      ) === at,
  );
  // The real server names TCP first; carriers are reached by UDP unless their trunk says otherwise.
  const rank = ({ transport }: SipAddress) => (transport === 'udp' ? 0 : 1);
  return distinct.sort((one, other) => rank(one) - rank(other));
}
