/** Puts packets of another stream into one of ours: numbers and timestamps go on where ours stood, gaps included; pure */
import { type RtpPacket, sequenceDistance } from '../../rtp/packet.ts';
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** Where a stream of ours stands: the numbers of its next packet. */
export interface StreamPlace {
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples. */
  readonly timestamp: number;
}

/** A source that jumps further than this, either way, has begun anew. */
const JUMP_PACKETS_MAX = 1_000;

export class StreamSplice {
  #ssrc: number | undefined;
  #sequenceShift = 0;
  #timestampShift = 0;
  /** How many of the numbers behind us are the other stream's, for packets that come late. */
  #room = 0;

  /** Says that our stream has gone on without the other one, whose next packet is joined anew. */
  cut(): void {
    this.#ssrc = undefined;
  }

  /**
   * The numbers for a packet of the other stream. Loss and order stay as they were, so that whoever listens can tell.
   *
   * @param ours where our stream stands.
   * @returns `isNew` for the first packet after a cut; undefined for one that came too late to have a place.
   */
  place(
    packet: RtpPacket,
    ours: StreamPlace,
  ): (StreamPlace & { readonly isNew: boolean }) | undefined {
    const isNew = packet.ssrc !== this.#ssrc || this.#hasJumped(packet, ours);
    if (isNew) {
      this.#ssrc = packet.ssrc;
      this.#sequenceShift = ours.sequence - packet.sequence;
      this.#timestampShift = ours.timestamp - packet.timestamp;
      this.#room = 0;
    }
    const sequence = this.#sequenceOf(packet);
    const ahead = sequenceDistance(ours.sequence, sequence);
    if (ahead < -this.#room) return undefined;
    this.#room = Math.min(JUMP_PACKETS_MAX, this.#room + Math.max(0, ahead + 1));
    return { isNew, sequence, timestamp: (packet.timestamp + this.#timestampShift) >>> 0 };
  }

  #hasJumped(packet: RtpPacket, ours: StreamPlace): boolean {
    return Math.abs(sequenceDistance(ours.sequence, this.#sequenceOf(packet))) > JUMP_PACKETS_MAX;
  }

  #sequenceOf({ sequence }: RtpPacket): number {
    return (sequence + this.#sequenceShift) & 0xffff;
  }
}

/** A sound that is played over and over where there is nothing else to hear, such as a telephone's ringing */
export class BackgroundLoop {
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #pcm: Int16Array | undefined;
  #at = 0;

  /** Plays this from its beginning, or nothing. Less than a frame of sound is nothing. */
  set(pcm: Int16Array | undefined): void {
    this.#pcm = pcm !== undefined && pcm.length >= FRAME_SAMPLES ? pcm : undefined;
    this.#at = 0;
  }

  /** The next 20 ms, in memory that is used again for the ones after; undefined where nothing is played. */
  next(): Int16Array | undefined {
    const pcm = this.#pcm;
    if (pcm === undefined) return undefined;
    for (let index = 0; index < FRAME_SAMPLES; index += 1) {
      this.#frame[index] = pcm[(this.#at + index) % pcm.length] ?? 0;
    }
    this.#at = (this.#at + FRAME_SAMPLES) % pcm.length;
    return this.#frame;
  }
}
