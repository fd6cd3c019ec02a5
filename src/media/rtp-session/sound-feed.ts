/** Joins sessions inside one thread, one with one: what one hears goes out of the other, alone or mixed with an agent's words. */
import type { RtpPacket } from '../../rtp/packet.ts';
import type { CodecName } from '../../rtp/sdp-answer.ts';
import { Mixer } from './mixer.ts';
import type { RtpSender } from './rtp-sender.ts';

/** One session's ends: the feed that its sound comes from, and the one that its hearing goes to. */
export class SoundFeed {
  readonly #sender: RtpSender;
  #source: SoundFeed | undefined;
  #sink: SoundFeed | undefined;
  #mixer: Mixer | undefined;
  #mixedWith: SoundFeed | undefined;

  constructor(sender: RtpSender) {
    this.#sender = sender;
  }

  /** Lets go out here what the other session hears; of none when not given. */
  from(other: SoundFeed | undefined): void {
    if (this.#source !== undefined) this.#source.#sink = undefined;
    if (other !== undefined && other.#sink !== undefined) other.#sink.from(undefined);
    this.#source = other;
    if (other !== undefined) other.#sink = this;
  }

  /** Whether another session sends on what this one hears. */
  get hasSink(): boolean {
    return this.#sink !== undefined;
  }

  /** Sends on what this session has heard, where somebody wants it. */
  pass(packet: RtpPacket, content: CodecName | 'key' | undefined, nowMs: number): void {
    if (this.#sink === undefined || content === undefined) return;
    this.#sink.#sender.forward(packet, content, nowMs);
  }

  /** Tells the session that sends this one's sound on what its far end hears by that. */
  forwarded(pcm: Int16Array, atMs: number): void {
    if (this.#sink !== undefined) this.#sink.#sender.forwarded(pcm, atMs);
  }

  /** Lets both sessions hear each other, and the agent of each; with none, no more. */
  mixWith(other: SoundFeed | undefined): void {
    this.#unmix();
    if (other === undefined || other === this) return;
    other.#unmix();
    const [ours, theirs] = Mixer.pair();
    this.#mix(ours, other);
    other.#mix(theirs, this);
  }

  /** Takes what this session hears. @returns what its agent hears: that, and the session that it is mixed with. */
  hear(pcm: Int16Array): Int16Array {
    return this.#mixer === undefined ? pcm : this.#mixer.hear(pcm);
  }

  /** Spells a key out to the session that this one is mixed with. */
  press(digit: string): void {
    if (this.#mixedWith !== undefined) this.#mixedWith.#sender.sendDigits(digit);
  }

  /** Joined with nobody any more. */
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
