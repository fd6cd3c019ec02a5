/** The port to whoever faces the carrier's RTP. SDP in, SDP out, and the call's sound. */
import type { BlockList } from 'node:net';
import type {
  AudioEvent,
  AudioStats,
  AudioStream,
  MediaSession,
  SoundTap,
} from '../media/audio-stream.ts';
import type { ReceiveRing } from '../media/buffers/receive-ring.ts';
import type { LevelMeter } from '../media/dsp/level-meter.ts';
import type { SdpError } from '../rtp/sdp.ts';
import { type CodecName, type LocalMedia, offer } from '../rtp/sdp-answer.ts';

/** One party's media. */
export interface MediaEndpoint {
  readonly audio: AudioStream;

  /** The media engine's line that the sound goes through. */
  readonly session: MediaSession;

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

/** The status of a session description that cannot be used: 400 when it cannot be read, 488 when it has nothing usable. */
export function sdpRefusal(cause: SdpError): MediaError {
  return new MediaError(cause.message, cause.kind === 'malformed' ? 400 : 488, { cause });
}

export interface MediaGateway {
  start(): Promise<void>;
  stop(): Promise<void>;

  /**
   * Makes an endpoint.
   *
   * @param options.remoteSdp the far end's offer; without one, `localSdp` is our offer.
   * @param options.signallingAddress the IP address that SIP came from: RTP from there may prove itself.
   * @param options.advertisedAddress IPv4 of ours that the far end is told; the local one when not given.
   * @param options.carrier other addresses from which it may.
   * @param options.near a line that this one may be joined with later.
   * @param options.isHeld whether nothing is sent until `line.confirm`, as long as only a datagram, which anybody can forge,
   * says where the far end is; false when not given.
   * @param options.codecs the only ones to offer or accept; all that we speak when not given.
   * @throws {MediaError} 488 or 400 as `negotiate`; 503 when no port is free.
   */
  open(options: {
    readonly remoteSdp?: string;
    readonly signallingAddress: string;
    readonly advertisedAddress?: string | undefined;
    readonly carrier?: BlockList;
    readonly codecs?: readonly CodecName[];
    readonly near?: MediaSession | undefined;
    readonly isHeld?: boolean;
  }): Promise<MediaEndpoint>;
}

/**
 * Connects two far ends with each other: that is the media engine's work, whoever faces the carriers, so that the call is
 * recorded and can be listened to. Their keys and their sound, in either law of G.711, go across.
 *
 * @throws {MediaError} when it cannot be done; both go on as they were.
 */
export function connectAudio(one: MediaEndpoint, other: MediaEndpoint): void {
  try {
    one.session.feedFrom(other.session);
    other.session.feedFrom(one.session);
  } catch (error) {
    throw apartError(error);
  }
}

/**
 * Lets two far ends and the agent of `one` hear one another. That is the media engine's work, whoever faces the carriers.
 *
 * @throws {MediaError} when it cannot be done; both go on as they were.
 */
export function mixAudio(one: MediaEndpoint, other: MediaEndpoint): void {
  try {
    one.session.mixWith(other.session);
  } catch (error) {
    throw apartError(error);
  }
}

function apartError(cause: unknown): MediaError {
  return new MediaError('Cannot connect two calls: their lines are apart', 503, { cause });
}

/** @see RFC 3551 section 6 */
const PAYLOAD_TYPES: Readonly<Record<CodecName, number>> = { PCMU: 0, PCMA: 8 };

/** In the order of our own offers. */
export const OUR_CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];

/** Writes our offer with only the given codecs, in their order, and telephone-event; both ways. */
export function offerOf(codecs: readonly CodecName[], ours: LocalMedia): string {
  const unwanted = OUR_CODECS.filter((name) => !codecs.includes(name));
  const isWanted = (line: string) => !unwanted.some((name) => line.endsWith(` ${name}/8000`));
  const payloadTypes = codecs.map((name) => PAYLOAD_TYPES[name]).join(' ');
  return offer(ours)
    .split('\r\n')
    .filter(isWanted)
    .map((line) => line.replace(/^(m=audio \d+ RTP\/AVP )0 8\b/, `$1${payloadTypes}`))
    .join('\r\n');
}

/** A call's sound where somebody stands between the media engine and whoever listens: the engine's line, less what is not to be heard of it. */
export class LinkedAudio implements AudioStream {
  readonly #source: AudioStream;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  #isLost = false;

  /** @param isHeard says of each event of the line whether listeners are told; of all when not given. */
  constructor(line: AudioStream, isHeard: (event: AudioEvent) => boolean = () => true) {
    this.#source = line;
    line.onEvent((event) => {
      if (isHeard(event)) this.#emit(event);
    });
  }

  /** Says `media-lost`, once: the link that stands between has ended. */
  mediaLost(): void {
    this.#emit({ kind: 'media-lost' });
  }

  get heard(): ReceiveRing {
    return this.#source.heard;
  }

  get meter(): LevelMeter | undefined {
    return this.#source.meter;
  }

  get tap(): SoundTap | undefined {
    return this.#source.tap;
  }

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listeners.push(listener);
  }

  begin(generation: number): void {
    this.#source.begin(generation);
  }

  say(generation: number, pcm: Int16Array): void {
    this.#source.say(generation, pcm);
  }

  finish(generation: number): void {
    this.#source.finish(generation);
  }

  drop(generation: number): void {
    this.#source.drop(generation);
  }

  resume(generation: number): void {
    this.#source.resume(generation);
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#source.setInterruptible(isInterruptible);
  }

  sendDigits(digits: string): void {
    this.#source.sendDigits(digits);
  }

  stats(): Promise<AudioStats> {
    return this.#source.stats();
  }

  #emit(event: AudioEvent): void {
    if (event.kind === 'media-lost') {
      if (this.#isLost) return;
      this.#isLost = true;
    }
    for (const listener of this.#listeners) listener(event);
  }
}
