/** One call's media on a port of the media engine, and what we say about it in SDP. */
import type { AudioStream } from '../../media/audio-stream.ts';
import type { MediaSession } from '../../media/engine/media-session.ts';
import type { SessionDescription } from '../../rtp/sdp.ts';
import { parseSdp, SdpError } from '../../rtp/sdp.ts';
import type { AgreedMedia, CodecName } from '../../rtp/sdp-answer.ts';
import { agree, answer } from '../../rtp/sdp-answer.ts';
import { offerOf } from '../codec-offer.ts';
import type { MediaEndpoint } from '../media-gateway.ts';
import { sdpRefusal } from '../media-gateway.ts';

export interface DirectEndpointOptions {
  readonly session: MediaSession;
  readonly codecs: readonly CodecName[];
  /** IPv4 that the far end is to send to. */
  readonly address: string;
  readonly sessionId: number;
}

export class DirectEndpoint implements MediaEndpoint {
  readonly #options: DirectEndpointOptions;
  #version = 0;
  #localSdp = '';
  #isOfferPending = false;

  /** Says nothing yet: `offer` or `negotiate` comes first. */
  constructor(options: DirectEndpointOptions) {
    this.#options = options;
  }

  get audio(): AudioStream {
    return this.#options.session;
  }

  get line(): MediaSession {
    return this.#options.session;
  }

  get localSdp(): string {
    return this.#localSdp;
  }

  async negotiate(remoteSdp: string): Promise<string> {
    const { session, codecs } = this.#options;
    const { theirs, agreed } = readSdp(remoteSdp, codecs);
    session.setRemote(agreed);
    if (this.#isOfferPending) this.#isOfferPending = false;
    else this.#say(() => answer(theirs, this.#ours));
    return this.#localSdp;
  }

  offer(): string {
    this.#isOfferPending = true;
    this.#say(() => offerOf(this.#options.codecs, this.#ours));
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
  #say(write: () => string): void {
    if (write() === this.#localSdp) return;
    this.#version += 1;
    this.#localSdp = write();
  }
}

/**
 * Reads a session description, of which only the given codecs count.
 *
 * @throws {MediaError} 400 when it is no SDP, 488 when there is nothing in it that we speak.
 */
export function readSdp(
  remoteSdp: string,
  codecs: readonly CodecName[],
): { readonly theirs: SessionDescription; readonly agreed: AgreedMedia } {
  try {
    const all = parseSdp(remoteSdp);
    const isAllowed = (name: string) => (codecs as readonly string[]).includes(name);
    const theirs = { ...all, codecs: all.codecs.filter(({ name }) => isAllowed(name)) };
    return { theirs, agreed: agree(theirs) };
  } catch (error) {
    throw error instanceof SdpError ? sdpRefusal(error) : error;
  }
}
