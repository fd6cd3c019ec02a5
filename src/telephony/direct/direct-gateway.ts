/** The media gateway that faces carriers itself: the media engine's own ports, described and answered in SDP. */
import { randomInt } from 'node:crypto';
import type { BlockList } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import { LocalRoutes } from '../../lib/local-routes.ts';
import type { MediaEngine } from '../../media/engine/media-engine.ts';
import type { MediaSession } from '../../media/engine/media-session.ts';
import type { CodecName } from '../../rtp/sdp-answer.ts';
import { OUR_CODECS } from '../codec-offer.ts';
import type { MediaGateway } from '../media-gateway.ts';
import { MediaError } from '../media-gateway.ts';
import { DirectEndpoint, readSdp } from './direct-endpoint.ts';

/** What the gateway needs of the media engine. */
export type LineOpener = Pick<MediaEngine, 'start' | 'stop' | 'open'>;

export interface DirectGatewayOptions {
  readonly engine: LineOpener;
  /** Which local address a far end reaches, where lines are open on all of them. */
  readonly routes?: LocalRoutes;
}

export class DirectGateway implements MediaGateway {
  readonly #engine: LineOpener;
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

  async open(options: {
    readonly remoteSdp?: string;
    readonly signallingAddress: string;
    readonly advertisedAddress?: string | undefined;
    readonly carrier?: BlockList;
    readonly codecs?: readonly CodecName[];
    readonly near?: MediaSession | undefined;
    readonly isHeld?: boolean;
  }): Promise<DirectEndpoint> {
    const { remoteSdp, codecs = OUR_CODECS, advertisedAddress, ...line } = options;
    // Read first: what cannot be understood shall not cost a port.
    if (remoteSdp !== undefined) readSdp(remoteSdp, codecs);
    const session = await this.#openLine(line);
    const endpoint = new DirectEndpoint({
      session,
      codecs,
      address:
        advertisedAddress ?? this.#routes.towards(session.localAddress, line.signallingAddress),
      sessionId: randomInt(1, 2 ** 47),
    });
    if (remoteSdp === undefined) endpoint.offer();
    else await endpoint.negotiate(remoteSdp);
    return endpoint;
  }

  async #openLine(options: Parameters<LineOpener['open']>[0]): Promise<MediaSession> {
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
