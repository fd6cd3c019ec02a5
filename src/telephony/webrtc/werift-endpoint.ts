/** Media of one browser call: a connection in the thread of browser calls, and an RTP session of the media engine. */
import { type Clock, within } from '../../lib/clock.ts';
import type { MediaSession } from '../../media/audio-stream.ts';
import type { Direction } from '../../rtp/sdp.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import { LinkedAudio, MediaError, SessionEndpoint } from '../media-gateway.ts';
import { type BrowserOffer, directionFor, readOffer, withOurSide } from './browser-sdp.ts';
import type { CallMessage, RelayThread, UdpPlace } from './relay-thread.ts';

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
export class WeriftEndpoint extends SessionEndpoint {
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
