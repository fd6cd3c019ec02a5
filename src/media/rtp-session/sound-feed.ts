/** Joins two sessions of a thread: forwards one's packets, or its decoded sound, to the other (transfer), or mixes both (conference). */
import { type CodecName, isG711 } from '../../rtp/codecs.ts';
import type { RtpPacket } from '../../rtp/packet.ts';
import { Mixer } from './mixer.ts';
import type { RtpSender } from './rtp-sender.ts';

/** One session's side of a join: the source that it forwards, and the sink that forwards this session. */
export class SoundFeed {
  readonly #sender: RtpSender;
  #source: SoundFeed | undefined;
  #sink: SoundFeed | undefined;
  #mixer: Mixer | undefined;
  #mixedWith: SoundFeed | undefined;

  constructor(sender: RtpSender) {
    this.#sender = sender;
  }

  /** Forwards the other session's packets here; undefined ends it. */
  from(other: SoundFeed | undefined): void {
    if (this.#source !== undefined) this.#source.#sink = undefined;
    if (other !== undefined && other.#sink !== undefined) other.#sink.from(undefined);
    this.#source = other;
    if (other !== undefined) other.#sink = this;
  }

  /** Whether another session forwards this one's packets. */
  get hasSink(): boolean {
    return this.#sink !== undefined;
  }

  /** Passes a received packet to the sink, where that is possible. */
  pass(packet: RtpPacket, content: CodecName | 'key' | undefined, nowMs: number): void {
    if (content !== 'key' && !isG711(content)) return;
    if (this.#sink !== undefined && this.#hasPacketSink) {
      this.#sink.#sender.forward(packet, content, nowMs);
    }
  }

  /** Passes the decoded sound of forwarded packets to the sink. */
  forwarded(pcm: Int16Array, atMs: number): void {
    if (this.#sink !== undefined) this.#sink.#sender.forwarded(pcm, atMs);
  }

  /** Passes received sound to a sink that cannot forward the packets: one side's codec is more than a table. */
  relay(pcm: Int16Array): void {
    if (this.#sink !== undefined && !this.#hasPacketSink) this.#sink.#sender.relay(pcm);
  }

  get #hasPacketSink(): boolean {
    const sink = this.#sink;
    return sink !== undefined && isG711(this.#sender.codec) && isG711(sink.#sender.codec);
  }

  /** Mixes both sessions and their agents; undefined ends it. */
  mixWith(other: SoundFeed | undefined): void {
    this.#unmix();
    if (other === undefined || other === this) return;
    other.#unmix();
    const [ours, theirs] = Mixer.pair();
    this.#mix(ours, other);
    other.#mix(theirs, this);
  }

  /** Takes received sound. @returns the sound for the agent: this and the mixed session's. */
  hear(pcm: Int16Array): Int16Array {
    return this.#mixer === undefined ? pcm : this.#mixer.hear(pcm);
  }

  /** Sends a DTMF digit on the mixed session, or on the sink that gets sound in place of packets. */
  press(digit: string): void {
    if (this.#sink !== undefined && !this.#hasPacketSink) this.#sink.#sender.sendDigits(digit);
    if (this.#mixedWith !== undefined) this.#mixedWith.#sender.sendDigits(digit);
  }

  /** Ends all joins. */
  stop(): void {
    this.from(undefined);
    this.#sink?.from(undefined);
    this.mixWith(undefined);
  }

  #unmix(): void {
    const other = this.#mixedWith;
    this.#mix(undefined, undefined);
    if (other !== undefined) other.#mix(undefined, undefined);
  }

  #mix(mixer: Mixer | undefined, other: SoundFeed | undefined): void {
    this.#mixer = mixer;
    this.#mixedWith = other;
    this.#sender.setMixer(mixer);
  }
}
