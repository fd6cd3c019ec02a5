/** Port to the carrier's RTP: SDP in, SDP out, and the call's audio stream. */
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

  /** RTP session of the media engine that carries the audio. */
  readonly session: MediaSession;

  /** Identifiers of the call's legs on a media server in between; undefined without one. */
  readonly channels?: readonly string[];

  /** Our current SDP: an offer if opened without one, an answer after `negotiate`. */
  readonly localSdp: string;

  /**
   * Applies the far end's SDP, an offer or an answer, at any time of the call (hold and resume too).
   *
   * @returns our SDP.
   * @throws {MediaError} 488 without a common codec, 400 for malformed SDP.
   */
  negotiate(remoteSdp: string): Promise<string>;

  /** New offer with all codecs, sendrecv, for a re-INVITE without SDP. */
  offer(): string;

  record(path: string): void;

  /** Ends the recording, and releases the port after it has drained. Safe to call twice. */
  close(): Promise<void>;
}

/** Media set-up failed. `sipStatus` is the status for the far end. */
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

/** Options of an endpoint. */
export interface MediaOptions {
  /** The far end's offer; without one, `localSdp` is our offer. */
  readonly remoteSdp?: string;
  /** Source IP address of SIP; RTP from it is accepted as a candidate. */
  readonly signallingAddress: string;
  /** Our IPv4 in SDP; default: the local one. */
  readonly advertisedAddress?: string | undefined;
  /** Other addresses that RTP may come from. */
  readonly carrier?: BlockList;
  /** Codecs to offer or accept; default: all supported ones. */
  readonly codecs?: readonly CodecName[];
  /** RTP session that this one may be joined with later. */
  readonly near?: MediaSession | undefined;
  /** Sends nothing before `session.confirm`, as long as only a forgeable datagram names the far end; default: false. */
  readonly isHeld?: boolean;
}

/** Source of media endpoints: direct RTP, FreeSWITCH or WebRTC. */
export interface MediaGateway {
  start(): Promise<void>;
  stop(): Promise<void>;

  /** @throws {MediaError} 488 or 400 as `negotiate`; 503 without a free port. */
  open(options: MediaOptions): Promise<MediaEndpoint>;
}

/**
 * Connects two far ends in the media engine, so that the call is recorded and can be monitored. RFC 4733 events and
 * audio pass in both directions, with A-law and µ-law converted.
 *
 * @throws {MediaError} when it fails; both calls stay as they were.
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
 * Mixes two far ends and the agent of `one` into a three-way call, in the media engine.
 *
 * @throws {MediaError} when it fails; both calls stay as they were.
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

/** Formats our offer with the given codecs, in their order, and telephone-event; sendrecv. */
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

/** Audio stream of an RTP session with some of its events filtered out, or `media-lost` added by a link in between. */
export class LinkedAudio implements AudioStream {
  readonly #source: AudioStream;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  #isLost = false;

  /** @param isHeard filter of the session's events; default: all pass. */
  constructor(line: AudioStream, isHeard: (event: AudioEvent) => boolean = () => true) {
    this.#source = line;
    line.onEvent((event) => {
      if (isHeard(event)) this.#emit(event);
    });
  }

  /** Emits `media-lost`, once: the link in between has ended. */
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

  setPauseAfter(voiceMs: number | null): void {
    this.#source.setPauseAfter(voiceMs);
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
