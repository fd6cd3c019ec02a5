/** Media gateway for browsers: WebRTC by werift in a thread of its own, started by the first call, with one endpoint a call. */
import { type Clock, OverdueError, within } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import type { Direction } from '../../rtp/sdp.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import {
  LinkedAudio,
  MediaError,
  type MediaGateway,
  SessionEndpoint,
  type SessionOpener,
} from '../media-gateway.ts';
import { type BrowserOffer, directionFor, readOffer, withOurSide } from './browser-sdp.ts';
import {
  type CallMessage,
  type RelaySettings,
  RelayThread,
  type StartRelay,
  startRelay,
  type UdpPlace,
} from './relay-thread.ts';

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
    const why = messageOf(cause);
    this.#problem = why;
    return new MediaError(`Cannot set up sound for a browser: ${why}`, 503, { cause });
  }
}

/** Has the thread answer an offer. @throws {Error} with its reason when it does not. */
function ask(
  thread: RelayThread,
  request: Pick<WeriftEndpointOptions, 'call' | 'offer' | 'session'> & {
    readonly addresses: readonly string[];
  },
): Promise<{ readonly answer: string; readonly relay: UdpPlace }> {
  const { call, offer, session, addresses } = request;
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

/** Time limit of ICE and DTLS, which take less than a second. */
const CONNECT_MS_MAX = 15_000;

const CLOSE_MS_MAX = 2_000;

interface WeriftEndpointOptions {
  readonly thread: RelayThread;
  /** Identifier of the call in the thread. */
  readonly call: number;
  readonly session: MediaSession;
  readonly relay: UdpPlace;
  readonly offer: BrowserOffer;
  /** The thread's answer to it. */
  readonly answer: string;
  readonly clock: Clock;
  /** Called once, when the endpoint is closed. */
  readonly onClosed: () => void;
}

/** Media endpoint of a browser call. */
class WeriftEndpoint extends SessionEndpoint {
  readonly audio: LinkedAudio;
  readonly #options: WeriftEndpointOptions;
  readonly #connectionEnded = Promise.withResolvers<void>();
  readonly #cancelTimeout: () => void;
  #offer: BrowserOffer;
  #closed: Promise<void> | undefined;

  constructor(options: WeriftEndpointOptions) {
    const { thread, call, session, clock } = options;
    super(session);
    this.#options = options;
    this.#offer = options.offer;
    // The browser needs our answer before it can connect.
    this.audio = new LinkedAudio(session, { isUp: false });
    this.#describe(directionFor(options.offer));
    this.#cancelTimeout = clock.after(CONNECT_MS_MAX, () => this.audio.mediaLost());
    session.setRemote(this.#agreed());
    thread.attach(call, (message) => this.#receive(message));
  }

  async negotiate(remoteSdp: string): Promise<string> {
    const offer = readOffer(remoteSdp);
    if (offer.connection !== this.#offer.connection) {
      throw new MediaError('Cannot change the session: the browser wants another connection', 488);
    }
    this.#offer = offer;
    this.#options.session.setRemote(this.#agreed());
    if (!this.isOfferPending) return this.#describe(directionFor(offer));
    this.isOfferPending = false;
    return this.localSdp;
  }

  offer(): string {
    this.isOfferPending = true;
    return this.#describe('sendrecv');
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { thread, call, session, clock, onClosed } = this.#options;
    this.#cancelTimeout();
    thread.send({ kind: 'close', call });
    const ended = within(clock, CLOSE_MS_MAX, this.#connectionEnded.promise);
    // A busy or dead thread releases its ports later; the recording is complete all the same.
    await Promise.all([session.close(), ended.catch(() => undefined)]);
    thread.detach(call);
    onClosed();
  }

  #receive(message: CallMessage): void {
    switch (message.kind) {
      case 'connected':
        this.#cancelTimeout();
        this.audio.open();
        break;
      case 'lost':
      case 'gone':
        this.audio.mediaLost();
        if (message.kind === 'gone') this.#connectionEnded.resolve();
        break;
      case 'closed':
        this.#connectionEnded.resolve();
        break;
      default:
        break;
    }
  }

  #agreed(): AgreedMedia {
    const { address, port } = this.#options.relay;
    const { telephoneEventPayloadType, doesListen, doesSpeak } = this.#offer;
    return {
      address,
      port,
      rtcpPort: port,
      isRtcpMuxed: true,
      codec: 'PCMU',
      payloadType: 0,
      ...(telephoneEventPayloadType !== undefined && { telephoneEventPayloadType }),
      maySend: doesListen,
      mayReceive: doesSpeak,
    };
  }

  #describe(direction: Direction): string {
    return this.describe((origin) => withOurSide(this.#options.answer, { ...origin, direction }));
  }
}
