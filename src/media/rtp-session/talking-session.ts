/** What a sender asks of the session that it talks for. */
import type { AudioEvent } from '../audio-stream.ts';
import type { Rider } from '../worker/pacer.ts';

/** The session that a sender talks for. It has the pacer's seat. */
export interface TalkingSession extends Rider {
  /** Puts a datagram on the network; the bytes are the sender's again when it returns. */
  transmit(datagram: Uint8Array): void;

  emit(event: AudioEvent): void;

  /** Hears what the far end hears. The memory is used again afterwards. */
  overhear(pcm: Int16Array, nowMs: number): void;

  /** Whether anybody cares for what `overhear` is told. */
  readonly isOverheard: boolean;
}
