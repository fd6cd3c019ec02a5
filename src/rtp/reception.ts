/** Reception statistics of RTP streams, ours and the far end's (loss, jitter, round trip), for RTCP and call quality; pure */
import { type RtpPacket, sequenceDistance } from './packet.ts';
import { DROPOUT_MAX, MISORDER_MAX } from './reorder-buffer.ts';
import { ntpMiddleOf, type ReportBlock } from './rtcp.ts';

/** Rate of RTP timestamps where nothing else is agreed. */
const USUAL_SAMPLES_PER_MS = 8;
/** A longer way of a packet than the one before had is a restarted timestamp, not jitter. */
const LEAP_MS = 1000;

/** Figures of one SSRC's stream, and totals over the streams before it. @see RFC 3550 appendices A.1, A.3, A.8 */
export class Reception {
  #samplesPerMs = USUAL_SAMPLES_PER_MS;
  /** NaN before the first packet. */
  #ssrc = Number.NaN;
  #baseSequence = 0;
  #highestSequence = 0;
  #received = 0;
  /** Duplicates among them. */
  #twice = 0;
  #receivedTotal = 0;
  #lostBefore = 0;
  #expectedAtReport = 0;
  #receivedAtReport = 0;
  /** NaN before the first packet of a stream. */
  #transitSamples = Number.NaN;
  #jitterSamples = 0;
  #senderReport: { readonly ntpMiddle: number; readonly atMs: number } | undefined;

  /** Sets the rate of the timestamps from now on. */
  setClock(clockRateHz: number): void {
    if (clockRateHz === this.#samplesPerMs * 1000) return;
    const jitterMs = this.jitterMs;
    this.#samplesPerMs = clockRateHz / 1000;
    this.#jitterSamples = jitterMs * this.#samplesPerMs;
    this.#transitSamples = Number.NaN;
  }

  get packetsReceived(): number {
    return this.#receivedTotal;
  }

  /** Duplicates do not make up for lost packets here, unlike in reports. */
  get packetsLost(): number {
    return this.#lostBefore + Math.max(0, this.#expected - this.#received + this.#twice);
  }

  get jitterMs(): number {
    return this.#jitterSamples / this.#samplesPerMs;
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

  /** Marks the last counted packet as a duplicate. */
  countTwice(): void {
    this.#twice += 1;
  }

  /** Notes the arrival of a sender report, which our next report names. */
  countSenderReport(ntpMiddle: number, atMs: number): void {
    this.#senderReport = { ntpMiddle, atMs };
  }

  /** @returns the report block that is due; undefined before the first packet. */
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
    const transitSamples = arrivedAtMs * this.#samplesPerMs - packet.timestamp;
    const difference = Math.abs(transitSamples - this.#transitSamples);
    this.#transitSamples = transitSamples;
    const known = Number.isNaN(difference) ? 0 : difference;
    if (known <= LEAP_MS * this.#samplesPerMs)
      this.#jitterSamples += (known - this.#jitterSamples) / 16;
  }
}

/** Quality of our stream at the far end, by its reports. */
export interface RemoteFigures {
  /** Sent by us when the newest report came. */
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly jitterMs: number;
  /** Mean; undefined where no report answered one of ours. */
  readonly roundTripMs: number | undefined;
  readonly roundTripMsMax: number | undefined;
}

/** Units of NTP's short format in a second. */
const NTP_UNITS = 65_536;

/** Longer round trips come from a wrong clock. */
const ROUND_TRIP_MS_MAX = 30_000;

/** Round trips may be negative by this much, since clocks are read at different instants. */
const TOLERANCE_MS = 50;

/** Collects the far end's reports about our stream. @see RFC 3550 section 6.4.1 */
export class RemoteReception {
  #samplesPerMs = USUAL_SAMPLES_PER_MS;
  #newest: Pick<RemoteFigures, 'packetsSent' | 'packetsLost' | 'jitterMs'> | undefined;
  #trips = 0;
  #tripsMs = 0;
  #tripMsMax = 0;

  /** Sets the rate of our stream's timestamps. */
  setClock(clockRateHz: number): void {
    this.#samplesPerMs = clockRateHz / 1000;
  }

  /** Undefined before the first report. */
  get figures(): RemoteFigures | undefined {
    if (this.#newest === undefined) return undefined;
    const hasTrips = this.#trips > 0;
    return {
      ...this.#newest,
      roundTripMs: hasTrips ? this.#tripsMs / this.#trips : undefined,
      roundTripMsMax: hasTrips ? this.#tripMsMax : undefined,
    };
  }

  /** Takes a report about our stream, of which `packetsSent` packets have been sent. */
  count(report: ReportBlock, { nowMs, packetsSent }: { nowMs: number; packetsSent: number }): void {
    this.#newest = {
      packetsSent,
      // Negative where packets were duplicated on their way.
      packetsLost: Math.min(packetsSent, Math.max(0, report.packetsLost)),
      jitterMs: report.jitterSamples / this.#samplesPerMs,
    };
    const tripMs = roundTripMs(report, nowMs);
    if (tripMs === undefined) return;
    this.#trips += 1;
    this.#tripsMs += tripMs;
    this.#tripMsMax = Math.max(this.#tripMsMax, tripMs);
  }
}

/** Time from our report to this answer, less the delay at the far end. */
function roundTripMs(report: ReportBlock, nowMs: number): number | undefined {
  const { lastSenderReport, delaySinceLastSenderReport } = report;
  if (lastSenderReport === 0) return undefined;
  const units = (ntpMiddleOf(nowMs) - lastSenderReport - delaySinceLastSenderReport) | 0;
  const tripMs = (units * 1000) / NTP_UNITS;
  if (tripMs < -TOLERANCE_MS || tripMs > ROUND_TRIP_MS_MAX) return undefined;
  return Math.max(0, tripMs);
}
