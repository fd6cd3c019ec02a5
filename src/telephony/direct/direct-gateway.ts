/** Media gateway without a media server: the media engine's own ports, described and answered in SDP. */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../lib/clock.ts';
import { LocalRoutes } from '../../lib/local-routes.ts';
import type { AudioStream, MediaSession } from '../../media/audio-stream.ts';
import type { MediaEngine } from '../../media/engine/media-engine.ts';
import { parseSdp, SdpError, type SessionDescription } from '../../rtp/sdp.ts';
import { type AgreedMedia, agree, answer, type CodecName } from '../../rtp/sdp-answer.ts';
import {
  type MediaEndpoint,
  MediaError,
  type MediaGateway,
  type MediaOptions,
  OUR_CODECS,
  offerOf,
  sdpRefusal,
} from '../media-gateway.ts';

/** Methods of the media engine that the gateway uses. */
export type SessionOpener = Pick<MediaEngine, 'start' | 'stop' | 'open'>;

interface DirectGatewayOptions {
  readonly engine: SessionOpener;
  /** Local address per far end, for sessions bound to the wildcard address. */
  readonly routes?: LocalRoutes;
}

/** Media gateway on the media engine's own RTP ports. */
export class DirectGateway implements MediaGateway {
  readonly #engine: SessionOpener;
  readonly #routes: LocalRoutes;

  constructor({ engine, routes = new LocalRoutes({ clock: systemClock }) }: DirectGatewayOptions) {
    this.#engine = engine;
    this.#routes = routes;
  }

  start(): Promise<void> {
    return this.#engine.start();
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  async open(options: MediaOptions): Promise<DirectEndpoint> {
    const { remoteSdp, codecs = OUR_CODECS, advertisedAddress, ...line } = options;
    // Parsed before a port is taken: an unusable offer must not cost one.
    const offer = remoteSdp === undefined ? undefined : readSdp(remoteSdp, codecs);
    const session = await this.#openSession(line);
    const endpoint = new DirectEndpoint({
      session,
      codecs,
      address:
        advertisedAddress ?? this.#routes.towards(session.localAddress, line.signallingAddress),
      sessionId: randomInt(1, 2 ** 47),
    });
    if (offer === undefined) endpoint.offer();
    else endpoint.apply(offer);
    return endpoint;
  }

  async #openSession(options: Parameters<SessionOpener['open']>[0]): Promise<MediaSession> {
    try {
      return await this.#engine.open(options);
    } catch (error) {
      throw noLine(error);
    }
  }
}

function noLine(cause: unknown): MediaError {
  return new MediaError(cause instanceof Error ? cause.message : String(cause), 503, { cause });
}

interface DirectEndpointOptions {
  readonly session: MediaSession;
  readonly codecs: readonly CodecName[];
  /** IPv4 in our SDP. */
  readonly address: string;
  readonly sessionId: number;
}

/** One call's media on a port of the media engine, with its SDP offer/answer state. */
class DirectEndpoint implements MediaEndpoint {
  readonly #options: DirectEndpointOptions;
  #version = 0;
  #localSdp = '';
  #isOfferPending = false;

  /** Call `offer`, `negotiate` or `apply` first. */
  constructor(options: DirectEndpointOptions) {
    this.#options = options;
  }

  get audio(): AudioStream {
    return this.#options.session;
  }

  get session(): MediaSession {
    return this.#options.session;
  }

  get localSdp(): string {
    return this.#localSdp;
  }

  async negotiate(remoteSdp: string): Promise<string> {
    return this.apply(readSdp(remoteSdp, this.#options.codecs));
  }

  /** As `negotiate`, from a description that has been parsed. */
  apply({ theirs, agreed }: RemoteDescription): string {
    this.#options.session.setRemote(agreed);
    if (this.#isOfferPending) this.#isOfferPending = false;
    else this.#describe(() => answer(theirs, this.#ours));
    return this.#localSdp;
  }

  offer(): string {
    this.#isOfferPending = true;
    this.#describe(() => offerOf(this.#options.codecs, this.#ours));
    return this.#localSdp;
  }

  record(path: string): void {
    this.#options.session.record(path);
  }

  close(): Promise<void> {
    return this.#options.session.close();
  }

  get #ours() {
    const { address, session, sessionId } = this.#options;
    return { address, port: session.localPort, sessionId, version: this.#version };
  }

  /** The version of a description grows exactly when the description changes. RFC 3264, 8. */
  #describe(write: () => string): void {
    if (write() === this.#localSdp) return;
    this.#version += 1;
    this.#localSdp = write();
  }
}

/** The far end's SDP, parsed, and the agreed media parameters. */
interface RemoteDescription {
  readonly theirs: SessionDescription;
  readonly agreed: AgreedMedia;
}

/**
 * Parses the far end's SDP and ignores all codecs but the given ones.
 *
 * @throws {MediaError} 400 for malformed SDP, 488 without a usable codec.
 */
function readSdp(remoteSdp: string, codecs: readonly CodecName[]): RemoteDescription {
  try {
    const all = parseSdp(remoteSdp);
    const isAllowed = (name: string) => (codecs as readonly string[]).includes(name);
    const theirs = { ...all, codecs: all.codecs.filter(({ name }) => isAllowed(name)) };
    return { theirs, agreed: agree(theirs) };
  } catch (error) {
    throw error instanceof SdpError ? sdpRefusal(error) : error;
  }
}
