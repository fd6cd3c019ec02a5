/** Lines without sound: what signalling needs of a media engine, and no more. */
import type { AudioStats, MediaSession } from '../../src/media/audio-stream.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import type { AgreedMedia } from '../../src/rtp/sdp-answer.ts';
import type { StartedEngine } from '../../src/telephony/direct/direct-gateway.ts';

export class SilentSession implements MediaSession {
  readonly heard = new ReceiveRing();
  readonly localPort: number = 40_000;
  readonly localAddress: string;
  readonly remotes: AgreedMedia[] = [];
  /** Keys that were spelled out to the far end. */
  digits = '';
  isClosed = false;
  isConfirmed = false;
  hasArrived = false;
  /** What `stats` says. */
  packetsReceived = 0;
  background: Int16Array | undefined;
  source: MediaSession | undefined;
  mixed: MediaSession | undefined;

  constructor(localAddress = '127.0.0.1') {
    this.localAddress = localAddress;
  }

  sendDigits(digits: string): void {
    this.digits += digits;
  }

  setRemote(agreed: AgreedMedia): void {
    this.remotes.push(agreed);
  }

  confirm(): void {
    this.isConfirmed = true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  setBackground(pcm: Int16Array | undefined): void {
    this.background = pcm;
  }

  feedFrom(other: MediaSession | undefined): void {
    this.source = other;
  }

  mixWith(other: MediaSession | undefined): void {
    this.mixed = other;
  }

  onEvent(): void {}
  begin(): void {}
  say(): void {}
  finish(): void {}
  drop(): void {}
  resume(): void {}
  setPauseAfter(): void {}
  setPrivate(): void {}
  record(): void {}

  async stats(): Promise<AudioStats> {
    const nothing = { packetsSent: 0, packetsLost: 0, packetsRejected: 0, jitterMs: 0 };
    return { ...nothing, packetsReceived: this.packetsReceived };
  }
}

export class SilentLines implements StartedEngine {
  readonly opened: SilentSession[] = [];
  localAddress = '127.0.0.1';

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async open(): Promise<SilentSession> {
    const session = new SilentSession(this.localAddress);
    this.opened.push(session);
    return session;
  }
}
