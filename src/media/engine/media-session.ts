/** One call's sound on the main thread: what the caller of the media engine holds. */
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { AudioStream } from '../audio-stream.ts';

/** An open line: a bound port, and the call's `AudioStream`. Silent and deaf until `setRemote`. */
export interface MediaSession extends AudioStream {
  /** Even RTP port; RTCP is one above. */
  readonly localPort: number;

  /** Address that the port is bound to. */
  readonly localAddress: string;

  /**
   * Says where and how to talk, at the answer and again whenever SDP changed it (hold and resume too).
   * The learning of the far end's true address starts anew when its address or port changed.
   */
  setRemote(agreed: AgreedMedia): void;

  /**
   * Says that the far end is where signalling says. A line that was opened held sends nothing before that, or before the
   * first packet that comes from there; other lines send at once. Safe to call twice.
   */
  confirm(): void;

  /** Whether the far end has sent a packet: the `media-arrived` event has gone out; it may precede a listener. */
  readonly hasArrived: boolean;

  /** Plays `pcm` over and over wherever there is nothing else to say, or no longer. */
  setBackground(pcm: Int16Array | undefined): void;

  /**
   * Says what `other` hears from now on, its keys too, wherever the agent does not speak; or no longer.
   *
   * @throws {RangeError} when the two are not on one thread: one has to be opened near the other.
   */
  feedFrom(other: MediaSession | undefined): void;

  /**
   * Lets this line, its agent and `other` hear one another from now on; or no longer. The agent hears both far ends, and
   * so does what is kept of `heard`; the recording keeps the caller left, and what the caller hears right.
   *
   * @throws {RangeError} as `feedFrom`.
   */
  mixWith(other: MediaSession | undefined): void;

  /** Starts a stereo WAV file: caller left, what the caller hears right. Failure is a `recording-failed` event. */
  record(path: string): void;

  /** Ends sound and recording; resolves when the recording is whole on disk. Safe to call twice. */
  close(): Promise<void>;
}
