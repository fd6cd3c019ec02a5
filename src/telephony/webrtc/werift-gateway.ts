/** Media gateway for browsers: WebRTC by werift in a thread of its own, started by the first call. */
import { type Clock, OverdueError, within } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import { MediaError, type MediaGateway, type SessionOpener } from '../media-gateway.ts';
import { type BrowserOffer, readOffer } from './browser-sdp.ts';
import {
  type RelaySettings,
  RelayThread,
  type StartRelay,
  startRelay,
  type UdpPlace,
} from './relay-thread.ts';
import { WeriftEndpoint } from './werift-endpoint.ts';

/** A thread that is well answers an offer in 50 ms. */
const OPEN_MS_MAX = 5_000;

/** Idle time after which the thread is stopped. */
const IDLE_MS = 60_000;

/** Constructor parameters of `WeriftGateway`. */
export interface WeriftGatewayOptions {
  readonly engine: SessionOpener;
  readonly ports: RelaySettings['ports'];
  /** IPv4 candidates, best first; asked for every call. */
  readonly addresses: () => Promise<readonly string[]>;
  readonly callsMax: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Starts the thread; replaced in tests. */
  readonly startRelay?: StartRelay;
}

/** Media gateway for browser calls. */
export class WeriftGateway implements MediaGateway {
  readonly #options: WeriftGatewayOptions;
  #thread: RelayThread | undefined;
  #calls = 0;
  #opened = 0;
  #problem: string | undefined;
  #isStopped = false;
  #cancelIdle: () => void = () => {};

  constructor(options: WeriftGatewayOptions) {
    this.#options = options;
  }

  /** Starts nothing: the first call starts the thread. */
  start(): Promise<void> {
    this.#isStopped = false;
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelIdle();
    await this.#thread?.stop();
  }

  /** Reason why the last call failed; undefined after a success. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Number of calls with a session, or waiting for one. */
  get size(): number {
    return this.#calls;
  }

  /** @throws {MediaError} 488 also for a call without an offer: a browser always brings one. */
  async open(options: {
    readonly remoteSdp?: string;
    readonly near?: MediaSession | undefined;
  }): Promise<WeriftEndpoint> {
    const { remoteSdp, near } = options;
    if (remoteSdp === undefined) {
      throw new MediaError('Cannot set up sound: a browser must bring an offer', 488);
    }
    // Parsed before a port is taken: an unusable offer must not cost one.
    const offer = readOffer(remoteSdp);
    if (this.#isStopped || this.#calls >= this.#options.callsMax) {
      throw new MediaError('Cannot set up sound: no more browser calls are taken', 503);
    }
    this.#calls += 1;
    try {
      return await this.#openCall(offer, near);
    } catch (error) {
      this.#release();
      throw error instanceof MediaError ? error : this.#failed(error);
    }
  }

  async #openCall(offer: BrowserOffer, near?: MediaSession): Promise<WeriftEndpoint> {
    const { engine, addresses, clock } = this.#options;
    const thread = await this.#running();
    const session = await engine.open({ signallingAddress: '127.0.0.1', near });
    this.#opened += 1;
    const call = this.#opened;
    try {
      const asked = ask(thread, { call, offer, session, addresses: await addresses() });
      const { answer, relay } = await within(clock, OPEN_MS_MAX, asked);
      this.#problem = undefined;
      const parts = { thread, call, session, relay, offer, answer, clock };
      return new WeriftEndpoint({ ...parts, onClosed: () => this.#release() });
    } catch (error) {
      thread.detach(call);
      thread.send({ kind: 'close', call });
      await session.close();
      // A thread that does not answer is stuck for all its calls.
      if (error instanceof OverdueError) await thread.stop();
      throw error;
    }
  }

  async #running(): Promise<RelayThread> {
    this.#cancelIdle();
    this.#thread ??= this.#startThread();
    const thread = this.#thread;
    try {
      await thread.ready;
    } catch (error) {
      await thread.stop();
      throw error;
    }
    return thread;
  }

  #startThread(): RelayThread {
    const { ports, clock, log } = this.#options;
    const thread = new RelayThread({
      settings: { ports },
      startRelay: this.#options.startRelay ?? startRelay,
      clock,
      onEnded: (reason) => {
        if (this.#thread === thread) this.#thread = undefined;
        if (this.#calls > 0 && !this.#isStopped)
          log.error({ reason, calls: this.#calls }, 'browser calls are lost');
      },
    });
    return thread;
  }

  #release(): void {
    this.#calls -= 1;
    if (this.#calls > 0 || this.#isStopped) return;
    this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => {
      const thread = this.#thread;
      this.#thread = undefined;
      void thread?.stop();
    });
  }

  #failed(cause: unknown): MediaError {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#problem = why;
    return new MediaError(`Cannot set up sound for a browser: ${why}`, 503, { cause });
  }
}

/** Has the thread answer an offer. @throws {Error} with its reason when it does not. */
function ask(
  thread: RelayThread,
  {
    call,
    offer,
    session,
    addresses,
  }: {
    readonly call: number;
    readonly offer: BrowserOffer;
    readonly session: MediaSession;
    readonly addresses: readonly string[];
  },
): Promise<{ readonly answer: string; readonly relay: UdpPlace }> {
  return new Promise((resolve, reject) => {
    thread.attach(call, (message) => {
      if (message.kind === 'opened') resolve(message);
      else if (message.kind === 'refused') reject(new Error(message.reason));
      else if (message.kind === 'gone') reject(new Error('its thread ended'));
    });
    const { localAddress, localPort: port } = session;
    thread.send({
      kind: 'open',
      call,
      offer: offer.sdp,
      telephoneEventPayloadType: offer.telephoneEventPayloadType,
      line: { address: localAddress === '0.0.0.0' ? '127.0.0.1' : localAddress, port },
      addresses,
    });
  });
}
