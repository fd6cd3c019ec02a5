/** Reads and writes RTCP: sender reports, receiver reports, CNAME and BYE; pure */

/** A sender's report about its own stream. @see RFC 3550 section 6.4.1 */
export interface SenderReport {
  /** `Clock.nowMs()`. */
  readonly atMs: number;
  /** The same instant on the stream's clock. */
  readonly timestamp: number;
  readonly packetsSent: number;
  readonly bytesSent: number;
}

/** A compound packet to send: SR or RR, SDES with the CNAME, and BYE at the end. */
export interface RtcpMessage {
  readonly ssrc: number;
  readonly cname: string;
  readonly sender?: SenderReport;
  readonly reception?: ReportBlock;
  readonly isBye?: boolean;
}

/** A receiver's report about a sender's stream. @see RFC 3550 section 6.4.1 */
export interface ReportBlock {
  readonly ssrc: number;
  /** Since the last report, in 256ths. */
  readonly fractionLost: number;
  /** Since the stream began; negative with duplicates. */
  readonly packetsLost: number;
  readonly highestSequence: number;
  /** In samples. */
  readonly jitterSamples: number;
  /** Middle 32 bits of the NTP time of the sender's last report; 0 when there was none. */
  readonly lastSenderReport: number;
  /** Since that report came, in 65,536ths of a second. */
  readonly delaySinceLastSenderReport: number;
}

/** The understood parts of a datagram. */
interface ReceivedRtcp {
  readonly senderReport?: { readonly ssrc: number; readonly ntpMiddle: number };
  readonly reports: readonly ReportBlock[];
}

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const BYE = 203;
const CNAME = 1;
/** Seconds from 1900, where NTP begins, to 1970. */
const NTP_EPOCH_SECONDS = 2_208_988_800;

/**
 * Writes a compound packet. Each part begins with a word; the length counts the words after it.
 *
 *     |V=2|P|  count  |      PT       |            length             |
 *
 * @see RFC 3550 sections 6.1, 6.4, 6.5, 6.6
 */
export function writeRtcp(message: RtcpMessage): Uint8Array {
  const parts = [writeReport(message), writeSourceDescription(message)];
  if (message.isBye === true) parts.push(writePart({ type: BYE, count: 1, words: [message.ssrc] }));
  return Buffer.concat(parts);
}

/** Reads a datagram; the first malformed part ends the reading. */
export function parseRtcp(datagram: Uint8Array): ReceivedRtcp {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const parts = splitParts(view).map(readReport);
  const senderReport = parts.find((part) => part.senderReport !== undefined)?.senderReport;
  return {
    ...(senderReport && { senderReport }),
    reports: parts.flatMap(({ reports }) => reports),
  };
}

interface Part {
  readonly type: number;
  readonly count: number;
  /** Contents without the four bytes that all parts begin with. */
  readonly body: DataView;
}

function writeReport(message: RtcpMessage): Buffer {
  const { ssrc, sender, reception } = message;
  const senderWords = sender === undefined ? [] : senderReportWords(sender);
  return writePart({
    type: sender === undefined ? RECEIVER_REPORT : SENDER_REPORT,
    count: reception === undefined ? 0 : 1,
    words: [ssrc, ...senderWords, ...(reception === undefined ? [] : reportBlockWords(reception))],
  });
}

function senderReportWords(sender: SenderReport): number[] {
  const { atMs, timestamp, packetsSent, bytesSent } = sender;
  const { seconds, fraction } = ntpTimeOf(atMs);
  return [seconds, fraction, timestamp, packetsSent, bytesSent];
}

function ntpTimeOf(atMs: number): { readonly seconds: number; readonly fraction: number } {
  const seconds = Math.floor(atMs / 1000) + NTP_EPOCH_SECONDS;
  return { seconds, fraction: Math.floor(((atMs / 1000) % 1) * 2 ** 32) };
}

/** The middle 32 bits of an instant's NTP time, which reports refer to. @param atMs `Clock.nowMs()`. */
export function ntpMiddleOf(atMs: number): number {
  const { seconds, fraction } = ntpTimeOf(atMs);
  return (((seconds & 0xffff) << 16) | (fraction >>> 16)) >>> 0;
}

function reportBlockWords(block: ReportBlock): number[] {
  const lost = Math.max(-0x80_0000, Math.min(0x7f_ffff, block.packetsLost)) & 0xff_ffff;
  return [
    block.ssrc,
    block.fractionLost * 2 ** 24 + lost,
    block.highestSequence,
    block.jitterSamples,
    block.lastSenderReport,
    block.delaySinceLastSenderReport,
  ];
}

function writeSourceDescription({ ssrc, cname }: RtcpMessage): Buffer {
  const text = Buffer.from(cname, 'ascii').subarray(0, 255);
  // Item, length, text, and one to four zeros that end the list on a word.
  const items = Buffer.alloc(Math.ceil((2 + text.length + 1) / 4) * 4);
  items.set([CNAME, text.length], 0);
  items.set(text, 2);
  const words = [ssrc];
  for (let offset = 0; offset < items.length; offset += 4) words.push(items.readUInt32BE(offset));
  return writePart({ type: SOURCE_DESCRIPTION, count: 1, words });
}

function writePart(part: { type: number; count: number; words: readonly number[] }): Buffer {
  const bytes = Buffer.alloc(4 + part.words.length * 4);
  bytes[0] = 0x80 | part.count;
  bytes[1] = part.type;
  bytes.writeUInt16BE(part.words.length, 2);
  part.words.forEach((word, index) => {
    bytes.writeUInt32BE(word >>> 0, 4 + index * 4);
  });
  return bytes;
}

function splitParts(view: DataView): Part[] {
  const parts: Part[] = [];
  for (let offset = 0; offset + 4 <= view.byteLength; ) {
    const first = view.getUint8(offset);
    const length = view.getUint16(offset + 2) * 4;
    if (first >> 6 !== 2 || offset + 4 + length > view.byteLength) break;
    const body = new DataView(view.buffer, view.byteOffset + offset + 4, length);
    parts.push({ type: view.getUint8(offset + 1), count: first & 0x1f, body });
    offset += 4 + length;
  }
  return parts;
}

function readReport({ type, count, body }: Part): ReceivedRtcp {
  const isSender = type === SENDER_REPORT;
  const start = isSender ? 24 : 4;
  if ((!isSender && type !== RECEIVER_REPORT) || body.byteLength < start) return { reports: [] };
  const blocks = Math.min(count, Math.floor((body.byteLength - start) / 24));
  const reports = Array.from({ length: blocks }, (_, index) => {
    const offset = start + index * 24;
    return {
      ssrc: body.getUint32(offset),
      fractionLost: body.getUint8(offset + 4),
      // 24 bits with a sign.
      packetsLost: (body.getUint32(offset + 4) << 8) >> 8,
      highestSequence: body.getUint32(offset + 8),
      jitterSamples: body.getUint32(offset + 12),
      lastSenderReport: body.getUint32(offset + 16),
      delaySinceLastSenderReport: body.getUint32(offset + 20),
    };
  });
  if (!isSender) return { reports };
  const ntpMiddle = ((body.getUint16(6) << 16) | body.getUint16(8)) >>> 0;
  return { senderReport: { ssrc: body.getUint32(0), ntpMiddle }, reports };
}
