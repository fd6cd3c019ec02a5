/** Offers our audio and answers the far end's, by the rules of RFC 3264; pure */
import { type Direction, type OfferedCodec, SdpError, type SessionDescription } from './sdp.ts';

/** Voice codecs that we speak. */
export type CodecName = 'PCMU' | 'PCMA';

/** Our side of a description. */
export interface LocalMedia {
  /** IPv4 that the far end can reach. */
  readonly address: string;
  /** RTP; RTCP is one above. */
  readonly port: number;
  /** The same number all through the call. */
  readonly sessionId: number;
  /** Grows by one whenever what we say has changed. */
  readonly version: number;
}

/** What both sides agreed on, as the media engine needs it. */
export interface AgreedMedia {
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** RTCP comes and goes through the RTP port. RFC 5761. */
  readonly isRtcpMuxed: boolean;
  readonly codec: CodecName;
  readonly payloadType: number;
  readonly telephoneEventPayloadType?: number;
  /** Whether the far end listens: false while it holds us. */
  readonly maySend: boolean;
  /** Whether the far end speaks. */
  readonly mayReceive: boolean;
}

/** Number that our own offers give to telephone-event; any free dynamic one would do. */
const OUR_TELEPHONE_EVENT = 101;

const OUR_CODECS: readonly { readonly name: CodecName; readonly payloadType: number }[] = [
  { name: 'PCMU', payloadType: 0 },
  { name: 'PCMA', payloadType: 8 },
];

/** What we answer to each direction of an offer. @see RFC 3264 section 6.1 */
const OPPOSITE: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** Writes our offer: PCMU, PCMA and telephone-event, both ways. */
export function offer(ours: LocalMedia): string {
  const payloadTypes = [...OUR_CODECS.map(({ payloadType }) => payloadType), OUR_TELEPHONE_EVENT];
  return joinLines([
    ...sessionLines(ours),
    `m=audio ${ours.port} RTP/AVP ${payloadTypes.join(' ')}`,
    ...OUR_CODECS.map(({ name, payloadType }) => `a=rtpmap:${payloadType} ${name}/8000`),
    ...telephoneEventLines(OUR_TELEPHONE_EVENT),
    'a=ptime:20',
    'a=sendrecv',
  ]);
}

/**
 * Writes our answer: one voice codec, the first of the offer that we speak; other streams are refused with port 0.
 *
 * @throws {SdpError} `unacceptable` when there is no common codec.
 */
export function answer(theirs: SessionDescription, ours: LocalMedia): string {
  const agreed = agree(theirs);
  const media = theirs.mediaLines.flatMap((line, index) =>
    index === theirs.audioIndex
      ? audioLines(agreed, { ...line, port: ours.port }, OPPOSITE[theirs.direction])
      : [`m=${line.kind} 0 ${line.protocol} ${line.formats}`],
  );
  return joinLines([...sessionLines(ours), ...media]);
}

/**
 * Says what the far end's description, an offer that we answer or an answer to our offer, comes to.
 *
 * @throws {SdpError} `unacceptable` when there is no common codec.
 */
export function agree(theirs: SessionDescription): AgreedMedia {
  const codec = theirs.codecs.find(isOurs);
  if (codec === undefined) {
    throw new SdpError('Cannot use SDP: neither PCMU nor PCMA is in it', { kind: 'unacceptable' });
  }
  const { telephoneEventPayloadType } = theirs;
  return {
    address: theirs.address,
    port: theirs.port,
    rtcpPort: theirs.isRtcpMuxed ? theirs.port : (theirs.rtcpPort ?? theirs.port + 1),
    isRtcpMuxed: theirs.isRtcpMuxed,
    codec: codec.name,
    payloadType: codec.payloadType,
    ...(telephoneEventPayloadType !== undefined && { telephoneEventPayloadType }),
    maySend: theirs.direction === 'sendrecv' || theirs.direction === 'recvonly',
    mayReceive: theirs.direction === 'sendrecv' || theirs.direction === 'sendonly',
  };
}

function isOurs(codec: OfferedCodec): codec is OfferedCodec & { readonly name: CodecName } {
  return (codec.name === 'PCMU' || codec.name === 'PCMA') && codec.clockRateHz === 8000;
}

function sessionLines(ours: LocalMedia): string[] {
  return [
    'v=0',
    `o=- ${ours.sessionId} ${ours.version} IN IP4 ${ours.address}`,
    's=-',
    `c=IN IP4 ${ours.address}`,
    't=0 0',
  ];
}

function audioLines(
  agreed: AgreedMedia,
  line: { readonly port: number; readonly protocol: string },
  direction: Direction,
): string[] {
  const { payloadType, codec, telephoneEventPayloadType } = agreed;
  const events = telephoneEventPayloadType === undefined ? [] : [telephoneEventPayloadType];
  return [
    `m=audio ${line.port} ${line.protocol} ${[payloadType, ...events].join(' ')}`,
    `a=rtpmap:${payloadType} ${codec}/8000`,
    ...events.flatMap(telephoneEventLines),
    ...(agreed.isRtcpMuxed ? ['a=rtcp-mux'] : []),
    'a=ptime:20',
    `a=${direction}`,
  ];
}

function telephoneEventLines(payloadType: number): string[] {
  return [`a=rtpmap:${payloadType} telephone-event/8000`, `a=fmtp:${payloadType} 0-15`];
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
