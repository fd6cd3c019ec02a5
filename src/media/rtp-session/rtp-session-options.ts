/** What a session is made with: where it hears to, how it reaches the network, whom it tells. */
import type { Source, TrustedHosts } from '../../rtp/source-lock.ts';
import type { AudioEvent } from '../audio-stream.ts';
import type { ReceiveRing } from '../buffers/receive-ring.ts';
import type { LevelMeter } from '../dsp/level-meter.ts';
import type { Pacer } from '../worker/pacer.ts';

/** A session's way out to the network. */
export interface RtpNetwork {
  sendRtp(datagram: Uint8Array, target: Source): void;
  sendRtcp(datagram: Uint8Array, target: Source): void;
}

export interface RtpSessionOptions {
  readonly heard: ReceiveRing;
  readonly meter: LevelMeter;
  readonly pacer: Pacer;
  readonly trusted: TrustedHosts;
  readonly nextUint32: () => number;
  readonly network: RtpNetwork;
  readonly emit: (event: AudioEvent) => void;
  /** Called with what a datagram led to that is a fault of ours. */
  readonly onFault: (error: unknown) => void;
}
