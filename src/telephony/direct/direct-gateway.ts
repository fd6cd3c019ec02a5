/** Media gateway without a media server: the media engine's own ports, described and answered in SDP. */
import { systemClock } from '../../lib/clock.ts';
import { LocalRoutes } from '../../lib/local-routes.ts';
import type { AudioStream, MediaSession } from '../../media/audio-stream.ts';
import type { MediaEngine } from '../../media/engine/media-engine.ts';
import { type CodecName, preferred, USUAL_CODECS } from '../../rtp/codecs.ts';
import { parseSdp, SdpError, type SessionDescription } from '../../rtp/sdp.ts';
import { type AgreedMedia, agree, answer, offer } from '../../rtp/sdp-answer.ts';
import { SdesKeys, type SrtpPolicy } from '../../rtp/srtp/sdes.ts';
import {
  type MediaGateway,
  type MediaOptions,
  openSession,
  SessionEndpoint,
  sdpRefusal,
} from '../media-gateway.ts';

/** Methods of the media engine that the gateway uses. */
export type StartedEngine = Pick<MediaEngine, 'start' | 'stop' | 'open'>;

interface DirectGatewayOptions {
  readonly engine: StartedEngine;
  /** Local address per far end, for sessions bound to the wildcard address. */
  readonly routes?: LocalRoutes;
}

/** Media gateway on the media engine's own RTP ports. */
export class DirectGateway implements MediaGateway {
  readonly #engine: StartedEngine;
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
    const { remoteSdp, codecs = USUAL_CODECS, srtp = 'off', advertisedAddress, ...line } = options;
    // Parsed before a port is taken: an unusable offer must not cost one.
    const rules = { codecs, srtp, isOffer: true };
    const theirs = remoteSdp === undefined ? undefined : readSdp(remoteSdp, rules);
    const session = await openSession(this.#engine, line);
    const endpoint = new DirectEndpoint({
      session,
      codecs,
      srtp,
      address:
        advertisedAddress ?? this.#routes.towards(session.localAddress, line.signallingAddress),
    });
    if (theirs === undefined) endpoint.offer();
    else endpoint.apply(theirs);
    return endpoint;
  }
}

interface DirectEndpointOptions {
  readonly session: MediaSession;
  readonly codecs: readonly CodecName[];
  readonly srtp: SrtpPolicy;
  /** IPv4 in our SDP. */
  readonly address: string;
}

/** One call's media on a port of the media engine, with its SDP offer/answer state. */
class DirectEndpoint extends SessionEndpoint {
  readonly audio: AudioStream;
  readonly #options: DirectEndpointOptions;
  #keys = new SdesKeys();
  /** Whether the newest agreement is RTP/SAVP. */
  #isSavp = false;

  /** Call `offer`, `negotiate` or `apply` first. */
  constructor(options: DirectEndpointOptions) {
    super(options.session);
    this.audio = options.session;
    this.#options = options;
  }

  async negotiate(remoteSdp: string): Promise<string> {
    return this.apply(readSdp(remoteSdp, { ...this.#options, isOffer: !this.isOfferPending }));
  }

  /** Negotiates as `negotiate`, with a description that has been parsed. */
  apply({ text, theirs, agreed }: RemoteDescription): string {
    const { cryptoLines = [] } = theirs;
    this.remoteSdp = text;
    const srtp = this.#keys.agree(cryptoLines);
    this.#isSavp = theirs.mediaLines[theirs.audioIndex]?.protocol.startsWith('RTP/SAVP') === true;
    this.session.setRemote(srtp === undefined ? agreed : { ...agreed, srtp });
    if (!this.isOfferPending) {
      const ours = { ...this.#place, cryptoLines: this.#keys.answer(cryptoLines) };
      const { codecs } = this.#options;
      return this.describe((origin) => answer(theirs, { ...ours, ...origin }, codecs));
    }
    this.isOfferPending = false;
    return this.localSdp;
  }

  /** Changes our SRTP keys: with the old ones, the far end that leaves could decrypt the sound for the next one. */
  override prepareMove(): () => Promise<void> {
    const [keys, restore] = [this.#keys, super.prepareMove()];
    this.#keys = new SdesKeys();
    return () => {
      this.#keys = keys;
      return restore();
    };
  }

  offer(): string {
    this.isOfferPending = true;
    const { codecs, srtp } = this.#options;
    const cryptoLines = srtp === 'off' ? [] : this.#keys.offer();
    // Best-effort SRTP has the name of plain RTP, so that far ends without SRTP take it. RFC 8643.
    const protocol = srtp === 'required' || this.#isSavp ? 'RTP/SAVP' : 'RTP/AVP';
    const ours = { ...this.#place, cryptoLines, protocol } as const;
    return this.describe((origin) => offer({ ...ours, ...origin }, codecs));
  }

  close(): Promise<void> {
    return this.session.close();
  }

  get #place() {
    return { address: this.#options.address, port: this.session.localPort };
  }
}

/** The far end's SDP, parsed, and the agreed media parameters. */
interface RemoteDescription {
  readonly text: string;
  readonly theirs: SessionDescription;
  readonly agreed: AgreedMedia;
}

interface SdpRules extends Pick<DirectEndpointOptions, 'codecs' | 'srtp'> {
  /** Whether we choose the codec; else the far end has chosen. */
  readonly isOffer: boolean;
}

/**
 * Parses the far end's SDP and ignores all codecs but the given ones.
 *
 * @throws {MediaError} 400 for malformed SDP, 488 without a usable codec, or without the SRTP that the policy asks for.
 */
function readSdp(remoteSdp: string, { codecs, srtp, isOffer }: SdpRules): RemoteDescription {
  try {
    const all = parseSdp(remoteSdp, { srtp });
    const best = preferred(all.codecs, codecs);
    // Without a common codec, the refusal names all that are offered.
    const theirs = isOffer && best.length > 0 ? { ...all, codecs: best } : all;
    return { text: remoteSdp, theirs, agreed: agree(theirs, codecs) };
  } catch (error) {
    throw error instanceof SdpError ? sdpRefusal(error) : error;
  }
}
