/** Splices packets of another stream into ours: sequence numbers and timestamps continue, gaps included; pure */
import { type RtpPacket, sequenceDistance } from '../../rtp/packet.ts';
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** Sequence number and timestamp of our stream's next packet. */
export interface StreamPlace {
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples. */
  readonly timestamp: number;
}

/** A source that jumps further, either way, has restarted. */
const JUMP_PACKETS_MAX = 1_000;

/** Continues the numbering of one RTP stream across a change of its source. */
export class StreamSplice {
  #ssrc: number | undefined;
  #sequenceShift = 0;
  #timestampShift = 0;
  /** Sequence numbers behind ours that belong to the other stream, for its late packets. */
  #room = 0;

  /** Ends the splice; the other stream's next packet starts another one. */
  cut(): void {
    this.#ssrc = undefined;
  }

  /**
   * Numbers a packet of the other stream. Loss and order stay visible to the far end.
   *
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

/** A looped sound in place of silence, such as ringing. */
export class BackgroundLoop {
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #pcm: Int16Array | undefined;
  #at = 0;

  /** Plays a sound from its beginning; undefined, and less than a frame, is none. */
  set(pcm: Int16Array | undefined): void {
    this.#pcm = pcm !== undefined && pcm.length >= FRAME_SAMPLES ? pcm : undefined;
    this.#at = 0;
  }

  /** @returns the next 20 ms, in memory that is reused; undefined where no sound is set. */
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
