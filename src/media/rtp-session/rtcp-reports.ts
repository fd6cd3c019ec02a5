/** The RTCP of a session: what is told to the far end about every 5 s, and what it tells us. */
import type { Reception } from '../../rtp/reception.ts';
import { RemoteReception } from '../../rtp/remote-reception.ts';
import { parseRtcp, writeRtcp } from '../../rtp/rtcp.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { RtpSender } from './rtp-sender.ts';
import type { RtpNetwork } from './rtp-session-options.ts';

/** Average time between reports; each is varied by half so that sessions do not report together. RFC 3550, 6.2. */
const REPORT_MS = 5000;

export class RtcpReports {
  /** How our stream arrives, as the far end tells. */
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
    // RFC 7022, 4.2: a name by chance tells nobody which machine this is.
    this.#cname = `${options.nextUint32().toString(16)}${options.nextUint32().toString(16)}`;
  }

  /** Takes a datagram of the far end; anything that it says is a figure, never an order. */
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

  /** The report that is due, if one is: none before the first packet, ours or theirs. */
  due(nowMs: number): Uint8Array | undefined {
    if (this.#sender.packetsSent === 0 && this.#reception.packetsReceived === 0) return undefined;
    if (Number.isNaN(this.#nextAtMs)) this.#nextAtMs = nowMs + this.#pauseMs();
    if (nowMs < this.#nextAtMs) return undefined;
    this.#nextAtMs = nowMs + this.#pauseMs();
    return this.#write(nowMs, false);
  }

  /** The last report, with BYE. */
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

/** Sends a report where the far end wants it, beside its sound or to a port of its own; nowhere before it has said so. */
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

/** Where reports go that have a port of their own; undefined where there is no such port. */
function reportTarget(
  { address, port }: Source,
  agreed: Pick<AgreedMedia, 'port' | 'rtcpPort'>,
): Source | undefined {
  // Behind NAT the announced port means nothing; the one above the proven port is the best guess.
  const reportPort = port === agreed.port ? agreed.rtcpPort : port + 1;
  return reportPort > 65_535 ? undefined : { address, port: reportPort };
}
