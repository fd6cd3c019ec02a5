/** Port to the carrier's RTP: SDP in, SDP out, and the call's audio stream. */
import { randomInt } from 'node:crypto';
import type { BlockList } from 'node:net';
import { messageOf } from '../lib/unknown-value.ts';
import type {
  AudioEvent,
  AudioStats,
  AudioStream,
  MediaSession,
  SoundTap,
} from '../media/audio-stream.ts';
import type { LevelMeter } from '../media/dsp/level-meter.ts';
import type { MediaEngine } from '../media/engine/media-engine.ts';
import type { ReceiveRing } from '../media/sound-rings.ts';
import type { CodecName } from '../rtp/codecs.ts';
import type { SdpError } from '../rtp/sdp.ts';
import type { LocalMedia } from '../rtp/sdp-answer.ts';
import type { SrtpPolicy } from '../rtp/srtp/sdes.ts';

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

  /**
   * Prepares to replace this far end by another: call it before `offer` or `negotiate` for the new one. Our SRTP keys
   * change.
   *
   * @returns restores the agreement, if the new one does not take the call. Throws as `negotiate`.
   */
  prepareMove(): () => Promise<void>;

  record(path: string): void;

  /** Ends the recording, and releases the port after it has drained. Safe to call twice. */
  close(): Promise<void>;
}

/** Common part of all gateways' endpoints: an RTP session, and our description of it. */
export abstract class SessionEndpoint implements MediaEndpoint {
  abstract readonly audio: AudioStream;
  readonly session: MediaSession;
  readonly #sessionId = randomInt(1, 2 ** 47);
  #version = 0;
  #localSdp = '';
  /** Whether our offer waits for its answer. */
  protected isOfferPending = false;
  /** The far end's description in force; undefined before the first one. */
  protected remoteSdp: string | undefined;

  constructor(session: MediaSession) {
    this.session = session;
  }

  get localSdp(): string {
    return this.#localSdp;
  }

  /** Records by our own engine, so that every gateway writes the same stereo file. */
  record(path: string): void {
    this.session.record(path);
  }

  /** Sets our description, whose version grows exactly when it changes. RFC 3264, 8. */
  protected describe(write: (origin: Pick<LocalMedia, 'sessionId' | 'version'>) => string): string {
    const writeAs = (version: number) => write({ sessionId: this.#sessionId, version });
    if (writeAs(this.#version) !== this.#localSdp) {
      this.#version += 1;
      this.#localSdp = writeAs(this.#version);
    }
    return this.#localSdp;
  }

  prepareMove(): () => Promise<void> {
    const { remoteSdp } = this;
    return async () => {
      this.isOfferPending = false;
      if (remoteSdp !== undefined && remoteSdp !== this.remoteSdp) await this.negotiate(remoteSdp);
    };
  }

  abstract negotiate(remoteSdp: string): Promise<string>;
  abstract offer(): string;
  abstract close(): Promise<void>;
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

/** Status that tells the far end of a failure: failures of ours are 500. */
export function statusOf(error: unknown): number {
  return error instanceof MediaError ? error.sipStatus : 500;
}

/** Methods of the media engine that the gateways use. */
export type SessionOpener = Pick<MediaEngine, 'open'>;

/**
 * Opens an RTP session of the media engine.
 *
 * @throws {MediaError} 503 without a free port.
 */
export async function openSession(
  engine: SessionOpener,
  options: Parameters<SessionOpener['open']>[0],
): Promise<MediaSession> {
  try {
    return await engine.open(options);
  } catch (error) {
    throw lineError(messageOf(error), error);
  }
}

function lineError(why: string, cause: unknown): MediaError {
  return new MediaError(why, 503, { cause });
}

/** The error for an unusable session description: 400 when it is malformed, 488 when it has no supported media. */
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
  /** Codecs to offer or accept, the best first; default: G.711, and on a media server all that it has. */
  readonly codecs?: readonly CodecName[];
  /** Default: off. A media server encrypts by its own settings and refuses `required`. */
  readonly srtp?: SrtpPolicy | undefined;
  /** RTP session that this one may be joined with later. */
  readonly near?: MediaSession | undefined;
  /** Sends nothing before `session.confirm`, because a forged datagram may have named the far end; default: false. */
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
  joined(() => {
    one.session.feedFrom(other.session);
    other.session.feedFrom(one.session);
  });
}

/**
 * Mixes two far ends and the agent of `one` into a three-way call, in the media engine.
 *
 * @throws {MediaError} when it fails; both calls stay as they were.
 */
export function mixAudio(one: MediaEndpoint, other: MediaEndpoint): void {
  joined(() => one.session.mixWith(other.session));
}

function joined(join: () => void): void {
  try {
    join();
  } catch (error) {
    throw lineError('Cannot connect two calls: their lines are apart', error);
  }
}

/** Limit of queued audio calls: a greeting of ten minutes. */
const WAITING_MAX = 10_000;

/**
 * Audio stream of an RTP session with some of its events filtered out, or `media-lost` added by a link in between. Before
 * the link is up, playback waits, so that the greeting is heard from its start.
 */
export class LinkedAudio implements AudioStream {
  readonly #source: AudioStream;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  /** Undefined once the link is up. */
  #waiting: (() => void)[] | undefined;
  #isLost = false;

  /**
   * @param isHeard filter of the session's events; default: all pass.
   * @param isUp false for a link that `open` will report.
   */
  constructor(
    line: AudioStream,
    options: { readonly isHeard?: (event: AudioEvent) => boolean; readonly isUp?: boolean } = {},
  ) {
    const { isHeard = () => true, isUp = true } = options;
    this.#source = line;
    this.#waiting = isUp ? undefined : [];
    line.onEvent((event) => {
      if (isHeard(event)) this.#emit(event);
    });
  }

  /** The link is up: runs the queued calls, and passes on later ones at once. Safe to call twice. */
  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const say of waiting) say();
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
    this.#pass(() => this.#source.begin(generation));
  }

  say(generation: number, pcm: Int16Array): void {
    this.#pass(() => this.#source.say(generation, pcm));
  }

  finish(generation: number): void {
    this.#pass(() => this.#source.finish(generation));
  }

  drop(generation: number): void {
    this.#pass(() => this.#source.drop(generation));
  }

  resume(generation: number): void {
    this.#pass(() => this.#source.resume(generation));
  }

  setPauseAfter(voiceMs: number | null): void {
    this.#pass(() => this.#source.setPauseAfter(voiceMs));
  }

  setPrivate(isPrivate: boolean): void {
    this.#pass(() => this.#source.setPrivate(isPrivate));
  }

  sendDigits(digits: string): void {
    this.#pass(() => this.#source.sendDigits(digits));
  }

  stats(): Promise<AudioStats> {
    return this.#source.stats();
  }

  #pass(deed: () => void): void {
    if (this.#waiting === undefined) deed();
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(deed);
  }

  #emit(event: AudioEvent): void {
    if (event.kind === 'media-lost') {
      if (this.#isLost) return;
      this.#isLost = true;
    }
    for (const listener of this.#listeners) listener(event);
  }
}
