/** What the far end says of how our stream arrives there; pure */
import { type HeardReport, ntpMiddleOf } from './rtcp.ts';

/** The far end's reports of a whole call. */
export interface RemoteFigures {
  /** By us, when the newest report came. */
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly jitterMs: number;
  /** Undefined where no report answered one of ours. */
  readonly roundTripMs: number | undefined;
  readonly roundTripMsMax: number | undefined;
}

const SAMPLES_PER_MS = 8;

/** In a second of NTP's shortest form. */
const NTP_UNITS = 65_536;

/** A longer way round the earth there is not; whoever says so has no clock. */
const ROUND_TRIP_MS_MAX = 30_000;

/** Clocks that are read between two instants may seem to run back by so much. */
const TOLERANCE_MS = 50;

/** @see RFC 3550 section 6.4.1 */
export class RemoteReception {
  #newest: Pick<RemoteFigures, 'packetsSent' | 'packetsLost' | 'jitterMs'> | undefined;
  #trips = 0;
  #tripsMs = 0;
  #tripMsMax = 0;

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

  /** Takes a report about our stream, of which so much has been sent. */
  count(report: HeardReport, { nowMs, packetsSent }: { nowMs: number; packetsSent: number }): void {
    this.#newest = {
      packetsSent,
      // Negative where packets came twice on their way.
      packetsLost: Math.min(packetsSent, Math.max(0, report.packetsLost)),
      jitterMs: report.jitterSamples / SAMPLES_PER_MS,
    };
    const tripMs = roundTripMs(report, nowMs);
    if (tripMs === undefined) return;
    this.#trips += 1;
    this.#tripsMs += tripMs;
    this.#tripMsMax = Math.max(this.#tripMsMax, tripMs);
  }
}

/** From our report to this answer, less the time that it lay at the far end. */
function roundTripMs(report: HeardReport, nowMs: number): number | undefined {
  const { lastSenderReport, delaySinceLastSenderReport } = report;
  if (lastSenderReport === 0) return undefined;
  const units = (ntpMiddleOf(nowMs) - lastSenderReport - delaySinceLastSenderReport) | 0;
  const tripMs = (units * 1000) / NTP_UNITS;
  if (tripMs < -TOLERANCE_MS || tripMs > ROUND_TRIP_MS_MAX) return undefined;
  return Math.max(0, tripMs);
}
