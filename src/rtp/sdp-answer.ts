/** SDP offer and answer by RFC 3264: our offer, our answer, and the agreement; pure */
import { type Direction, type OfferedCodec, SdpError, type SessionDescription } from './sdp.ts';
import type { AgreedSrtp } from './srtp/sdes.ts';

/** Supported voice codecs. */
export type CodecName = 'PCMU' | 'PCMA';

/** Our side of a description. */
export interface LocalMedia {
  /** IPv4 address that the far end can reach. */
  readonly address: string;
  /** RTP; RTCP is one above. */
  readonly port: number;
  /** The same throughout a call. */
  readonly sessionId: number;
  /** Grows by one with each change. */
  readonly version: number;
  /** Our a=crypto lines; absent for plain RTP. */
  readonly cryptoLines?: readonly string[] | undefined;
  /** Protocol of an offer; RTP/AVP when not given. An answer has that of its offer. */
  readonly protocol?: 'RTP/AVP' | 'RTP/SAVP';
}

/** Agreed media of a call, for the media engine. */
export interface AgreedMedia {
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** RTCP comes and goes through the RTP port. RFC 5761. */
  readonly isRtcpMuxed: boolean;
  readonly codec: CodecName;
  readonly payloadType: number;
  readonly telephoneEventPayloadType?: number;
  /** Length of our packets, in milliseconds: 10 to 60 in steps of 10; 20 when absent. */
  readonly ptimeMs?: number;
  /** Whether the far end listens: false while it holds us. */
  readonly maySend: boolean;
  /** Whether the far end speaks. */
  readonly mayReceive: boolean;
  /** Absent for plain RTP. */
  readonly srtp?: AgreedSrtp | undefined;
}

/** Payload type of telephone-event in our offers; any dynamic one would do. */
const OUR_TELEPHONE_EVENT = 101;

/** @see RFC 3551 section 4.2 */
const USUAL_PTIME_MS = 20;

/** In the order of our own offers. */
export const OUR_CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];

/** @see RFC 3551 section 6 */
const PAYLOAD_TYPES: Readonly<Record<CodecName, number>> = { PCMU: 0, PCMA: 8 };

/** Our direction in the answer to each direction of an offer. @see RFC 3264 section 6.1 */
const OPPOSITE: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** Writes our offer: the codecs in their order, and telephone-event; both ways. */
export function offer(ours: LocalMedia, codecs = OUR_CODECS): string {
  const payloadTypes = [...codecs.map((name) => PAYLOAD_TYPES[name]), OUR_TELEPHONE_EVENT];
  const offered = OUR_CODECS.filter((name) => codecs.includes(name));
  return joinLines([
    ...sessionLines(ours),
    `m=audio ${ours.port} ${ours.protocol ?? 'RTP/AVP'} ${payloadTypes.join(' ')}`,
    ...(ours.cryptoLines ?? []),
    ...offered.map((name) => `a=rtpmap:${PAYLOAD_TYPES[name]} ${name}/8000`),
    ...telephoneEventLines(OUR_TELEPHONE_EVENT),
    `a=ptime:${USUAL_PTIME_MS}`,
    'a=sendrecv',
  ]);
}

/**
 * Writes our answer: the first supported voice codec of the offer; other streams are refused with port 0.
 *
 * @throws {SdpError} `unacceptable` when there is no common codec, and for RTP/SAVP without keys of ours.
 */
export function answer(theirs: SessionDescription, ours: LocalMedia): string {
  const agreed = agree(theirs);
  const isSecure = theirs.mediaLines[theirs.audioIndex]?.protocol.includes('SAVP') === true;
  if (isSecure && !ours.cryptoLines?.length) {
    throw new SdpError('Cannot use SDP: SRTP has no plain answer', { kind: 'unacceptable' });
  }
  const media = theirs.mediaLines.flatMap((line, index) =>
    index === theirs.audioIndex
      ? audioLines(agreed, { ...ours, protocol: line.protocol }, OPPOSITE[theirs.direction])
      : [`m=${line.kind} 0 ${line.protocol} ${line.formats}`],
  );
  return joinLines([...sessionLines(ours), ...media]);
}

/**
 * Derives the agreement from the far end's description, an offer or an answer.
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
    ...(theirs.ptimeMs !== USUAL_PTIME_MS && { ptimeMs: theirs.ptimeMs }),
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
  line: Pick<LocalMedia, 'port' | 'cryptoLines'> & { readonly protocol: string },
  direction: Direction,
): string[] {
  const { payloadType, codec, telephoneEventPayloadType } = agreed;
  const events = telephoneEventPayloadType === undefined ? [] : [telephoneEventPayloadType];
  return [
    `m=audio ${line.port} ${line.protocol} ${[payloadType, ...events].join(' ')}`,
    ...(line.cryptoLines ?? []),
    `a=rtpmap:${payloadType} ${codec}/8000`,
    ...events.flatMap(telephoneEventLines),
    ...(agreed.isRtcpMuxed ? ['a=rtcp-mux'] : []),
    `a=ptime:${agreed.ptimeMs ?? USUAL_PTIME_MS}`,
    `a=${direction}`,
  ];
}

function telephoneEventLines(payloadType: number): string[] {
  return [`a=rtpmap:${payloadType} telephone-event/8000`, `a=fmtp:${payloadType} 0-15`];
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
