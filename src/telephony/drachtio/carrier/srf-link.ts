/** The connection to a drachtio server, or to the embedded engine that speaks its protocol: reconnects, detects hangs. */
import type { Socket } from 'node:net';
import { type Clock, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { connectionOf, openSrf, reasonOf, type SrfClient } from './srf.ts';

const RETRY_MS_MIN = 250;
/** Far ends of lost calls wait for a server that comes back. */
const RETRY_MS_MAX = 3_000;

/** Time limit from the TCP connect to the log-in; a healthy server takes milliseconds. */
const ATTEMPT_MS_MAX = 3_000;

/** Time limit of `start`; attempts go on after it. */
const START_MS_MAX = 1_500;

/** Time limit for the first answer after the log-in. */
const KNOWN_MS_MAX = 1_000;

/** A hung server, whose TCP connection stays up, is detected within the sum of the two. */
const PING_EVERY_MS = 2_000;
const PONG_MS_MAX = 4_000;

/**
 * How long a hung server keeps its connection: a server that resumes carries out the commands of the meantime, a CANCEL
 * too. After that the network may be the cause, and a new connection is tried.
 */
const SILENT_MS_MAX = 30_000;

export interface SrfLinkOptions {
  /** Address of drachtio's client protocol. */
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Connection shared with the media gateway; default: a new one. */
  readonly srf?: SrfClient;
  readonly clock: Clock;
  readonly log: Logger;
}

interface SrfLinkListener {
  /** The server has reported its SIP addresses: the fields of drachtio-srf's `connect` event. */
  listening(hostPorts: readonly unknown[]): void;
  connected(): void;
  lost(): void;
}

/**
 * Reconnects by itself; one `SrfClient` for its whole life, so that its dialogs outlive a short loss.
 *
 * ```
 * stopped ──start──► connecting ──log-in──► connected ◄──pong── silent
 *                      ▲    └─────lost, refused, overdue──┐ └──no pong──►┘ │
 *                      └──────────back-off──────── waiting ◄──lost, 30 s──┘
 * ```
 */
export class SrfLink {
  readonly srf: SrfClient;
  readonly #options: SrfLinkOptions;
  readonly #listener: SrfLinkListener;
  #state: 'stopped' | 'connecting' | 'connected' | 'silent' | 'waiting' = 'stopped';
  #problem = 'not started';
  #retryMs = RETRY_MS_MIN;
  #attempt = 0;
  #socket: Socket | undefined;
  #silentSinceMs = 0;
  /** Cancels the one pending timer: log-in limit, next ping or next attempt. */
  #cancelTimer: () => void = () => {};
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

  /** Reason of the missing connection. */
  get problem(): string {
    return this.#problem;
  }

  /**
   * Resolves when the first attempt has succeeded or failed, after 1.5 s at the latest; a server that is not there yet is
   * tried again.
   *
   * @throws {Error} when the server refuses the secret within that time.
   */
  async start(): Promise<void> {
    if (this.#state !== 'stopped') return;
    const settled = new Promise<void>((resolve, reject) => {
      this.#settleStart = (error) => (error === undefined ? resolve() : reject(error));
    });
    const { clock, log } = this.#options;
    const cancel = clock.after(START_MS_MAX, () => {
      log.warn({ problem: this.#problem }, 'SIP server has not answered yet');
      this.#settleStart();
    });
    this.#connect();
    await settled.finally(cancel);
  }

  stop(): void {
    const { isConnected } = this;
    this.#state = 'stopped';
    this.#problem = 'stopped';
    this.#cancelTimer();
    this.#settleStart();
    if (isConnected) this.srf.disconnect();
    else this.#socket?.destroy();
  }

  #connect(): void {
    const { host, port, secret, clock } = this.#options;
    this.#state = 'connecting';
    if (this.#attempt === 0) this.#problem = `connecting to the server at ${this.#place}`;
    this.#attempt += 1;
    // The library's own retries cannot be stopped, so each connection is one attempt of its.
    this.#socket = connectionOf(() =>
      this.srf.connect({ host, port, secret, reconnect: { maxAttempts: 1 } }),
    );
    this.#cancelTimer = clock.after(ATTEMPT_MS_MAX, () => this.#giveUp());
  }

  #onConnect(error: unknown, hostPorts: readonly unknown[]): void {
    if (this.#state !== 'connecting') {
      this.#socket?.destroy();
      return;
    }
    if (error) {
      this.#problem = `the server at ${this.#place} refused the secret`;
      this.#settleStart(new Error(`Cannot use SIP server "${this.#place}": it refused the secret`));
      this.#socket?.destroy();
      return;
    }
    this.#cancelTimer();
    this.#listener.listening(hostPorts);
    void this.#beReady();
  }

  /** Until the server knows our routes it refuses calls with 503. */
  async #beReady(): Promise<void> {
    const attempt = this.#attempt;
    // Without an answer the pings decide.
    await within(this.#options.clock, KNOWN_MS_MAX, this.#refusal()).catch(() => undefined);
    if (this.#state === 'connecting' && attempt === this.#attempt) this.#beConnected();
  }

  #beConnected(): void {
    this.#state = 'connected';
    this.#retryMs = RETRY_MS_MIN;
    this.#settleStart();
    this.#pingLater();
    this.#listener.connected();
  }

  #pingLater(): void {
    this.#cancelTimer = this.#options.clock.after(PING_EVERY_MS, () => void this.#ping());
  }

  async #ping(): Promise<void> {
    // The `close` event follows.
    if (this.#socket?.destroyed === true) return;
    const attempt = this.#attempt;
    const askedAtMs = this.#options.clock.nowMs();
    const doesAnswer = await this.#doesAnswer();
    const wasSilent = this.#state === 'silent';
    if (attempt !== this.#attempt || !(wasSilent || this.isConnected)) return;
    if (doesAnswer && wasSilent) this.#beConnected();
    else if (!doesAnswer && !wasSilent) this.#fallSilent(askedAtMs);
    else if (!doesAnswer && askedAtMs - this.#silentSinceMs > SILENT_MS_MAX) this.#giveUp();
    else this.#pingLater();
  }

  #fallSilent(sinceMs: number): void {
    this.#state = 'silent';
    this.#silentSinceMs = sinceMs;
    const since = new Date(this.#options.clock.now().getTime() - PONG_MS_MAX).toISOString();
    this.#problem = `the server at ${this.#place} hangs: it has answered nothing since ${since}`;
    this.#options.log.warn({ problem: this.#problem }, 'SIP server is out of reach');
    this.#pingLater();
    this.#listener.lost();
  }

  async #doesAnswer(): Promise<boolean> {
    const refusal = this.#refusal();
    // After a stall of our own event loop the timer fires before the socket is read: the second half reads it.
    const { clock } = this.#options;
    const half = () => within(clock, PONG_MS_MAX / 2, refusal).catch(() => false);
    return (await half()) || (await half());
  }

  /**
   * Resolves when the server refuses a command inside an unknown dialog. It handles commands in order, so it has handled
   * the earlier ones too, such as the routes that we want.
   */
  #refusal(): Promise<true> {
    return new Promise((resolve) => {
      const nothing = { method: 'OPTIONS', stackDialogId: 'none' };
      this.srf.request('sip:placeholder', nothing, () => resolve(true));
    });
  }

  /** Drops the connection; its `close` event schedules the next attempt. */
  #giveUp(): void {
    if (this.#state === 'connecting') {
      this.#problem = `connecting to the server at ${this.#place}: it did not answer within ${ATTEMPT_MS_MAX / 1000} s`;
    }
    this.#socket?.destroy();
  }

  #onError(error: Error): void {
    this.#problem = `no connection to the server at ${this.#place}: ${reasonOf(error)}`;
  }

  #onClose(): void {
    if (this.#state === 'stopped' || this.#state === 'waiting') return;
    const wasConnected = this.isConnected;
    const { clock, log } = this.#options;
    this.#state = 'waiting';
    if (wasConnected) this.#problem = `the server at ${this.#place} closed the connection`;
    log.warn({ retryMs: this.#retryMs, problem: this.#problem }, 'SIP server is out of reach');
    this.#cancelTimer();
    this.#cancelTimer = clock.after(this.#retryMs, () => this.#connect());
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
    this.#settleStart();
    if (wasConnected) this.#listener.lost();
  }

  get #place(): string {
    return `${this.#options.host}:${this.#options.port}`;
  }
}
