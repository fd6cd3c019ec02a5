/** The port between a call and its audio: received sound, playout, and their events. */
import type { CodecName } from '../rtp/codecs.ts';
import type { RemoteFigures } from '../rtp/reception.ts';
import type { AgreedMedia } from '../rtp/sdp-answer.ts';
import type { LevelMeter } from './dsp/level-meter.ts';
import type { ReceiveRing } from './sound-rings.ts';

/** Rate of every PCM buffer that crosses this port: mono, signed 16-bit. */
export const LINE_RATE_HZ = 8000;

/** Length of one packet's worth of audio. */
export const FRAME_MS = 20;

/** Samples in one frame. */
export const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1000;

/** Why a recording ended before its call. */
export interface RecordingFailure {
  readonly reason: string;
  /** Sound that the file holds, in milliseconds; 0 where there is no file. */
  readonly recordedMs: number;
}

/** Reports of the media worker, per event and never per packet. Instants are `Clock.nowMs()`. */
export type AudioEvent =
  /** The caller has been loud for `VOICE_FRAMES` frames in a row; `atMs` is the arrival of the first of them. */
  | { readonly kind: 'voice-started'; readonly atMs: number }
  /** The caller has been quiet for 60 ms; `lastVoicedAtMs` is the arrival of the last voiced frame. */
  | { readonly kind: 'voice-stopped'; readonly lastVoicedAtMs: number }
  /** The first packet of a reply has left. */
  | { readonly kind: 'playout-started'; readonly generation: number; readonly atMs: number }
  /** The worker itself stopped playout because the caller spoke; the unplayed tail is kept. */
  | { readonly kind: 'playout-paused'; readonly generation: number; readonly playedMs: number }
  /** The reply is over: played to its end (`isComplete`), or dropped. `playedMs` of it were sent. */
  | {
      readonly kind: 'playout-finished';
      readonly generation: number;
      readonly playedMs: number;
      readonly isComplete: boolean;
    }
  | { readonly kind: 'digit'; readonly digit: string; readonly durationMs: number }
  /** The first RTP packet of the far end has come, from a source that may send it. */
  | { readonly kind: 'media-arrived' }
  /** No packet has come for 15 s although the caller is not on hold. */
  | { readonly kind: 'media-lost' }
  /** The far end has put the call on hold, and hears nothing, or has taken it back. */
  | { readonly kind: 'hold'; readonly isOnHold: boolean }
  /** The recording could not be written any further; the call goes on without it. */
  | ({ readonly kind: 'recording-failed' } & RecordingFailure);

/** RTP figures of one call, from its first packet on. */
export interface AudioStats {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  /** Packets that came from an address other than the peer's: counted and dropped. */
  readonly packetsRejected: number;
  readonly jitterMs: number;
  /** Undefined where no packets flow. */
  readonly details?: StreamDetails | undefined;
}

/** Packet figures of one call that are not summed over all calls. */
export interface StreamDetails {
  readonly codec: CodecName;
  /** Came when their place had been filled with silence already, or twice; counted as received too. */
  readonly packetsLate: number;
  /** Were due, and the system did not take them: lost for the far end. */
  readonly packetsUnsent: number;
  /** Undefined where the far end has sent no report. */
  readonly remote: RemoteFigures | undefined;
}

/** Copies the sound that is really played to the caller, for listeners. */
export interface SoundTap {
  /** Copies played sound into the ring from now on. Safe to call twice: it returns the same ring. */
  open(): ReceiveRing;

  /** Safe to call twice, and on a session that is closed. */
  close(): void;
}

/**
 * One call's sound. A reply is a **generation**: a number that only grows. Audio of an older generation than
 * the newest one begun is dropped by the packet writer, so stale speech cannot be heard.
 */
export interface AudioStream {
  /** The caller's audio, shared with the listening thread. The main thread reads it for listeners-in, and for beeps of answering machines. */
  readonly heard: ReceiveRing;

  /** Levels of both sides, while the live view is open; absent where they are not measured. */
  readonly meter?: LevelMeter | undefined;

  /** Sound for one listener, who passes it on to all others; absent where the sound is not in real time. */
  readonly tap?: SoundTap | undefined;

  /** Adds a listener; every listener hears every event. Events that came before are not replayed. */
  onEvent(listener: (event: AudioEvent) => void): void;

  /** Begins reply `generation`: drops the rest of older ones (reported as not complete). */
  begin(generation: number): void;

  /** Adds PCM (8 kHz, mono) to the end of reply `generation`. Ignored when that reply is no longer the newest. */
  say(generation: number, pcm: Int16Array): void;

  /** Says that reply `generation` has no more audio; `playout-finished` follows when its last frame has left. */
  finish(generation: number): void;

  /** Stops the reply now; its unplayed audio is gone. `playout-finished` with `isComplete: false` follows. */
  drop(generation: number): void;

  /** Plays on after `playout-paused`. */
  resume(generation: number): void;

  /** Sets how long the caller must be loud before the worker pauses playout itself; null: never. */
  setPauseAfter(voiceMs: number | null): void;

  /**
   * While private, the caller's sound is silence to the recording, the recogniser, listeners and joined sessions, for its whole
   * length. DTMF digits are reported as `digit` events, and not sent to joined sessions.
   */
  setPrivate(isPrivate: boolean): void;

  /**
   * Sends DTMF digits, 100 ms each with 60 ms between: RFC 4733 events, or tones where they were not agreed. Characters: 0-9 * # A-D,
   * and `w` for a pause of half a second.
   */
  sendDigits(digits: string): void;

  stats(): Promise<AudioStats>;
}

/** An open session: a bound port, and the call's `AudioStream`. Silent and deaf until `setRemote`. */
export interface MediaSession extends AudioStream {
  /** Even RTP port; RTCP is one above. */
  readonly localPort: number;

  /** Address that the port is bound to. */
  readonly localAddress: string;

  /**
   * Says where and how to talk, at the answer and again whenever SDP changed it (hold and resume too).
   * Learns the far end's true address again when its address or port has changed.
   */
  setRemote(agreed: AgreedMedia): void;

  /**
   * Confirms that the far end is at its signalled address. A session that was opened held sends nothing before that, or
   * before the first packet from that address; other sessions send at once. Safe to call twice.
   */
  confirm(): void;

  /** Whether the far end has sent a packet: the `media-arrived` event has gone out; it may precede a listener. */
  readonly hasArrived: boolean;

  /** Plays `pcm` in a loop while nothing else is played; undefined ends it. */
  setBackground(pcm: Int16Array | undefined): void;

  /**
   * Sends the sound that `other` receives from now on, DTMF too, while the agent does not speak; undefined ends it.
   *
   * @throws {RangeError} when the two are not on one thread: one has to be opened near the other.
   */
  feedFrom(other: MediaSession | undefined): void;

  /**
   * Mixes this session, its agent and `other` from now on; undefined ends it. The agent, and the ring `heard`, receive both
   * far ends; the recording has the caller left, and the sound sent to the caller right.
   *
   * @throws {RangeError} as `feedFrom`.
   */
  mixWith(other: MediaSession | undefined): void;

  /** Starts a stereo WAV file: caller left, sound sent to the caller right. Failure is a `recording-failed` event. */
  record(path: string): void;

  /** Ends sound and recording; resolves when the recording is whole on disk. Safe to call twice. */
  close(): Promise<void>;
}
