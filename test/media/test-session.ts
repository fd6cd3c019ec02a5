/** A session with a far end on a fake clock: what it is told, what it sends, what it reports. */
import type { AudioEvent } from '../../src/media/audio-stream.ts';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { LevelMeter, levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { RtpSession } from '../../src/media/rtp-session/rtp-session.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { Pacer } from '../../src/media/worker/pacer.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../src/rtp/packet.ts';
import type { AgreedMedia } from '../../src/rtp/sdp-answer.ts';
import type { Source, TrustedHosts } from '../../src/rtp/source-lock.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

export const FAR_END: Source = { address: '192.0.2.7', port: 4000 };

export const AGREED: AgreedMedia = {
  ...FAR_END,
  rtcpPort: 4001,
  isRtcpMuxed: false,
  codec: 'PCMU',
  payloadType: 0,
  telephoneEventPayloadType: 101,
  maySend: true,
  mayReceive: true,
};

/** The same without telephone-event. */
const { telephoneEventPayloadType: _, ...AGREED_WITHOUT_EVENTS } = AGREED;

export const VOICE = tone(8000);
export const SILENCE = new Int16Array(160);

export interface SentPacket extends RtpPacket {
  readonly atMs: number;
  readonly target: Source;
}

/** 20 ms of a tone. */
export function tone(peak: number): Int16Array {
  return Int16Array.from({ length: 160 }, (_, index) => Math.round(peak * Math.sin(index / 2)));
}

/** A reply of so many different frames. */
export function reply(frames: number): Int16Array {
  return Int16Array.from({ length: frames * 160 }, (_, index) => 1000 + Math.floor(index / 160));
}

export class TestSession {
  readonly clock = new FakeClock(1_000_000);
  readonly heard = new ReceiveRing();
  readonly meter = new LevelMeter();
  /** All but `media-arrived`. */
  readonly events: AudioEvent[] = [];
  /** How often `media-arrived` was told. */
  arrivals = 0;
  readonly sent: SentPacket[] = [];
  readonly sentRtcp: { readonly datagram: Uint8Array; readonly target: Source }[] = [];
  readonly pacer = new Pacer({
    clock: this.clock,
    onFault: (_rider, error) => {
      throw error;
    },
  });
  /** The RTP datagrams as they were sent. */
  readonly sealed: Uint8Array[] = [];
  readonly session: RtpSession;
  /** Whether the system takes no packets. */
  isRefusing = false;
  #sequence = 65_500;
  #timestamp = 0xffff_f000;

  constructor(trusted: Partial<TrustedHosts> = {}) {
    let number = 7;
    this.session = new RtpSession({
      heard: this.heard,
      meter: this.meter,
      pacer: this.pacer,
      trusted: { signallingAddress: FAR_END.address, ...trusted },
      nextUint32: () => (number += 1_000_003),
      network: {
        sendRtp: (datagram, target) => this.#note(datagram, target),
        sendRtcp: (datagram, target) => this.sentRtcp.push({ datagram, target }),
      },
      emit: (event) => {
        if (event.kind === 'media-arrived') this.arrivals += 1;
        else this.events.push(event);
      },
      onFault: (error) => {
        throw error;
      },
    });
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  setRemote(changes: Partial<AgreedMedia> = {}): void {
    this.session.setRemote({ ...AGREED, ...changes }, this.nowMs);
  }

  /** Agrees as `setRemote`, but not on telephone-event. */
  setRemoteWithoutEvents(): void {
    this.session.setRemote(AGREED_WITHOUT_EVENTS, this.nowMs);
  }

  /** The far end sends 20 ms, and 20 ms go by. */
  speak(pcm: Int16Array, options: Partial<RtpPacket> & { readonly source?: Source } = {}): void {
    this.hear(pcm, options);
    this.clock.advance(20);
  }

  /** A packet of the far end is read, and no time goes by. */
  hear(pcm: Int16Array, options: Partial<RtpPacket> & { readonly source?: Source } = {}): void {
    const { source = FAR_END, ...changes } = options;
    const datagram = writeRtp({
      ...{ payloadType: 0, hasMarker: false, ssrc: 99 },
      ...{ sequence: this.#sequence, timestamp: this.#timestamp },
      payload: encodeG711('PCMU', pcm),
      ...changes,
    });
    this.session.onRtp(datagram, source, this.nowMs);
    this.#count();
  }

  /** A packet of the far end gets lost, and 20 ms go by. */
  lose(): void {
    this.#count();
    this.clock.advance(20);
  }

  /** The far end leaves out so many frames, and no time goes by. */
  skipSound(frames: number): void {
    this.#timestamp = (this.#timestamp + frames * 160) >>> 0;
  }

  /** The session's own thread stands still for so long; what it does first then is its turn of the pacer. */
  stallFor(ms: number): void {
    const { clock } = this;
    const { nowMs } = clock;
    const lateAtMs = clock.nowMs() + ms;
    clock.nowMs = () => lateAtMs;
    clock.advance(20);
    clock.nowMs = nowMs;
    clock.advance(ms - 20);
  }

  speakFor(ms: number, pcm = VOICE): void {
    for (let spoken = 0; spoken < ms; spoken += 20) this.speak(pcm);
  }

  /** The far end falls silent without sending packets. */
  pauseFor(ms: number): void {
    for (let paused = 0; paused < ms; paused += 20) {
      this.#timestamp = (this.#timestamp + 160) >>> 0;
      this.clock.advance(20);
    }
  }

  /** One letter for each 20 ms that were heard: `v` voice, `.` silence. */
  heardAsLetters(): string {
    const pcm = this.heard.read(0);
    return Array.from({ length: pcm.length / 160 }, (_, index) =>
      levelDbfs(pcm.subarray(index * 160, (index + 1) * 160)) > -40 ? 'v' : '.',
    ).join('');
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  #count(): void {
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + 160) >>> 0;
  }

  #note(datagram: Uint8Array, target: Source): void {
    if (this.isRefusing) {
      this.session.onUnsent(datagram);
      return;
    }
    this.sealed.push(Uint8Array.from(datagram));
    const packet = parseRtp(Uint8Array.from(datagram));
    if (packet !== undefined) this.sent.push({ ...packet, atMs: this.nowMs, target });
  }
}
