/** The port to whoever faces the carrier's RTP. SDP in, SDP out, and the call's sound. */
import type { AudioStream } from '../media/audio-stream.ts';
import type { CodecName } from '../rtp/sdp-answer.ts';

/** One party's media. */
export interface MediaEndpoint {
  readonly audio: AudioStream;

  /** What a media server in between calls its legs of this call; undefined where there is no such server. */
  readonly channels?: readonly string[];

  /** Our SDP as it stands: an offer when made without one, an answer after `negotiate`. */
  readonly localSdp: string;

  /**
   * Takes the far end's SDP, an offer or an answer, at any time of the call (hold and resume too).
   *
   * @returns our SDP that answers it.
   * @throws {MediaError} 488 when there is no common codec, 400 when it is not SDP.
   */
  negotiate(remoteSdp: string): Promise<string>;

  /** Our SDP as a new offer of everything, both ways: for a re-INVITE that has none. */
  offer(): string;

  record(path: string): void;

  /** Frees the port (after it has drained) and ends the recording. Safe to call twice. */
  close(): Promise<void>;
}

/** Media could not be set up; `sipStatus` is what to tell the far end. */
export class MediaError extends Error {
  override readonly name = 'MediaError';
  readonly sipStatus: number;

  constructor(message: string, sipStatus: number, options?: ErrorOptions) {
    super(message, options);
    this.sipStatus = sipStatus;
  }
}

export interface MediaGateway {
  start(): Promise<void>;
  stop(): Promise<void>;

  /**
   * Makes an endpoint.
   *
   * @param options.remoteSdp the far end's offer; without one, `localSdp` is our offer.
   * @param options.signallingAddress the IP address that SIP came from: the one other host whose RTP may be believed.
   * @param options.codecs the only ones to offer or accept; all that we speak when not given.
   * @throws {MediaError} 488 or 400 as `negotiate`; 503 when no port is free.
   */
  open(options: {
    readonly remoteSdp?: string;
    readonly signallingAddress: string;
    readonly codecs?: readonly CodecName[];
  }): Promise<MediaEndpoint>;
}
