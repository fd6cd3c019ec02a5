/** RTCP of a session: a report to the far end about every 5 s, and the reports from there. */
import { type Reception, RemoteReception } from '../../rtp/reception.ts';
import { parseRtcp, writeRtcp } from '../../rtp/rtcp.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { RtpSender } from './rtp-sender.ts';

/** A session's way out to the network. */
export interface RtpNetwork {
  sendRtp(datagram: Uint8Array, target: Source): void;
  sendRtcp(datagram: Uint8Array, target: Source): void;
}

/** Average time between reports; each is varied by half so that sessions do not report together. RFC 3550, 6.2. */
const REPORT_MS = 5000;

/** Sends and reads the RTCP of one session. */
export class RtcpReports {
  /** How our stream arrives, by the far end's reports. */
  readonly remote = new RemoteReception();
  readonly #sender: RtpSender;
  readonly #reception: Reception;
  readonly #nextUint32: () => number;
  readonly #cname: string;
  /** NaN before the first turn. */
  #nextAtMs = Number.NaN;

  constructor(options: {
    readonly sender: RtpSender;
    readonly reception: Reception;
    readonly nextUint32: () => number;
  }) {
    this.#sender = options.sender;
    this.#reception = options.reception;
    this.#nextUint32 = options.nextUint32;
    // RFC 7022, 4.2: a random name does not identify the machine.
    this.#cname = `${options.nextUint32().toString(16)}${options.nextUint32().toString(16)}`;
  }

  /** Takes a datagram of the far end; only its figures are used. */
  receive(datagram: Uint8Array, nowMs: number): void {
    const { reports, senderReport } = parseRtcp(datagram);
    if (senderReport !== undefined) {
      this.#reception.countSenderReport(senderReport.ntpMiddle, nowMs);
    }
    const { packetsSent, ssrc } = this.#sender;
    for (const report of reports) {
      if (report.ssrc === ssrc) this.remote.count(report, { nowMs, packetsSent });
    }
  }

  /** @returns the report that is due; undefined before the first packet in either direction. */
  due(nowMs: number): Uint8Array | undefined {
    if (this.#sender.packetsSent === 0 && this.#reception.packetsReceived === 0) return undefined;
    if (Number.isNaN(this.#nextAtMs)) this.#nextAtMs = nowMs + this.#pauseMs();
    if (nowMs < this.#nextAtMs) return undefined;
    this.#nextAtMs = nowMs + this.#pauseMs();
    return this.#write(nowMs, false);
  }

  /** @returns the last report, with BYE. */
  goodbye(nowMs: number): Uint8Array {
    return this.#write(nowMs, true);
  }

  #pauseMs(): number {
    return REPORT_MS * (0.5 + this.#nextUint32() / 2 ** 32);
  }

  #write(nowMs: number, isBye: boolean): Uint8Array {
    const { progress, ssrc } = this.#sender;
    const reception = this.#reception.report(nowMs);
    return writeRtcp({
      ssrc,
      cname: this.#cname,
      isBye,
      ...(progress.packetsSent > 0 && { sender: { atMs: nowMs, ...progress } }),
      ...(reception && { reception }),
    });
  }
}

/** Sends a report to the RTP port (RFC 5761) or the RTCP port, as agreed; nowhere before an agreement. */
export function sendReport(
  report: Uint8Array,
  to: {
    readonly target: Source | undefined;
    readonly agreed: AgreedMedia | undefined;
    readonly network: RtpNetwork;
  },
): void {
  const { target, agreed, network } = to;
  if (target === undefined || agreed === undefined) return;
  const reportsTo = reportTarget(target, agreed);
  if (agreed.isRtcpMuxed) network.sendRtp(report, target);
  else if (reportsTo !== undefined) network.sendRtcp(report, reportsTo);
}

/** @returns the RTCP port's address; undefined where there is none. */
function reportTarget(
  { address, port }: Source,
  agreed: Pick<AgreedMedia, 'port' | 'rtcpPort'>,
): Source | undefined {
  // Behind NAT the announced RTCP port is of no use; the port above the proven one is the best guess.
  const reportPort = port === agreed.port ? agreed.rtcpPort : port + 1;
  return reportPort > 65_535 ? undefined : { address, port: reportPort };
}
