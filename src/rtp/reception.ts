/** Counts what arrives, for RTCP reports and statistics; pure */
import { type RtpPacket, sequenceDistance } from './packet.ts';

/** What a receiver tells the sender about its stream. @see RFC 3550 section 6.4.1 */
export interface ReportBlock {
  readonly ssrc: number;
  /** Since the report before, in 256ths. */
  readonly fractionLost: number;
  /** Since the stream began; negative when packets came twice. */
  readonly packetsLost: number;
  readonly highestSequence: number;
  /** In samples. */
  readonly jitterSamples: number;
  /** Middle 32 bits of the NTP time of the sender's last report; 0 when there was none. */
  readonly lastSenderReport: number;
  /** Since that report came, in 65,536ths of a second. */
  readonly delaySinceLastSenderReport: number;
}

const SAMPLES_PER_MS = 8;
const DROPOUT_MAX = 3000;
const MISORDER_MAX = 100;

/** Figures of one SSRC's stream, and totals over the streams before it. @see RFC 3550 appendices A.1, A.3, A.8 */
export class Reception {
  /** NaN before the first packet. */
  #ssrc = Number.NaN;
  #baseSequence = 0;
  #highestSequence = 0;
  #received = 0;
  /** Of those, the ones that had come before. */
  #twice = 0;
  #receivedTotal = 0;
  #lostBefore = 0;
  #expectedAtReport = 0;
  #receivedAtReport = 0;
  /** NaN before the first packet of a stream. */
  #transitSamples = Number.NaN;
  #jitterSamples = 0;
  #senderReport: { readonly ntpMiddle: number; readonly atMs: number } | undefined;

  get packetsReceived(): number {
    return this.#receivedTotal;
  }

  /** Unlike in reports, where a packet that came twice makes up for one that was lost. */
  get packetsLost(): number {
    return this.#lostBefore + Math.max(0, this.#expected - this.#received + this.#twice);
  }

  get jitterMs(): number {
    return this.#jitterSamples / SAMPLES_PER_MS;
  }

  count(packet: RtpPacket, arrivedAtMs: number): void {
    const step = sequenceDistance(this.#highestSequence, packet.sequence);
    if (packet.ssrc !== this.#ssrc || step > DROPOUT_MAX || step < -MISORDER_MAX) {
      this.#restart(packet);
    } else if (step > 0) {
      this.#highestSequence += step;
    }
    this.#received += 1;
    this.#receivedTotal += 1;
    this.#countJitter(packet, arrivedAtMs);
  }

  /** Takes note that the packet that was counted last had come before. */
  countTwice(): void {
    this.#twice += 1;
  }

  /** Takes the sender's own report, to say later when it came. */
  countSenderReport(ntpMiddle: number, atMs: number): void {
    this.#senderReport = { ntpMiddle, atMs };
  }

  /** What to report now; undefined before the first packet. */
  report(nowMs: number): ReportBlock | undefined {
    if (Number.isNaN(this.#ssrc)) return undefined;
    const expected = this.#expected - this.#expectedAtReport;
    const lost = expected - (this.#received - this.#receivedAtReport);
    this.#expectedAtReport = this.#expected;
    this.#receivedAtReport = this.#received;
    const delayMs = this.#senderReport === undefined ? 0 : nowMs - this.#senderReport.atMs;
    return {
      ssrc: this.#ssrc,
      fractionLost:
        expected <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected)),
      packetsLost: this.#expected - this.#received,
      highestSequence: this.#highestSequence >>> 0,
      jitterSamples: Math.floor(this.#jitterSamples),
      lastSenderReport: this.#senderReport?.ntpMiddle ?? 0,
      delaySinceLastSenderReport: Math.round((delayMs * 65_536) / 1000) >>> 0,
    };
  }

  get #expected(): number {
    return Number.isNaN(this.#ssrc) ? 0 : this.#highestSequence - this.#baseSequence + 1;
  }

  #restart(packet: RtpPacket): void {
    this.#lostBefore = this.packetsLost;
    this.#ssrc = packet.ssrc;
    this.#baseSequence = packet.sequence;
    this.#highestSequence = packet.sequence;
    this.#received = 0;
    this.#twice = 0;
    this.#expectedAtReport = 0;
    this.#receivedAtReport = 0;
    this.#transitSamples = Number.NaN;
    this.#senderReport = undefined;
  }

  #countJitter(packet: RtpPacket, arrivedAtMs: number): void {
    const transitSamples = arrivedAtMs * SAMPLES_PER_MS - packet.timestamp;
    const difference = Math.abs(transitSamples - this.#transitSamples);
    this.#transitSamples = transitSamples;
    const known = Number.isNaN(difference) ? 0 : difference;
    // A leap of more than a second is a restarted timestamp, not the network.
    if (known <= 8000) this.#jitterSamples += (known - this.#jitterSamples) / 16;
  }
}
