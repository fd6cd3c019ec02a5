/** SDP offer and answer by RFC 3264: our offer, our answer, and the agreement; pure */
import {
  allowedOf,
  CODECS,
  type CodecName,
  codecOf,
  noCommonCodec,
  type OpusSettings,
  opusSettings,
  USUAL_CODECS,
} from './codecs.ts';
import { type Direction, SdpError, type SessionDescription } from './sdp.ts';
import type { AgreedSrtp } from './srtp/sdes.ts';

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
  /** Protocol of an offer; RTP/AVP when not given. An answer repeats its offer's. */
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
  /** Settings of Opus packets to the far end; given for Opus. */
  readonly opus?: OpusSettings;
  readonly telephoneEventPayloadType?: number;
  /** Clock of telephone-event; 8000 when absent. */
  readonly telephoneEventClockHz?: number;
  /** Length of our packets, in milliseconds: 10 to 60 in steps of 10; 20 when absent. */
  readonly ptimeMs?: number;
  /** Whether the far end listens: false while it holds us. */
  readonly maySend: boolean;
  /** Whether the far end speaks. */
  readonly mayReceive: boolean;
  /** Absent for plain RTP. */
  readonly srtp?: AgreedSrtp | undefined;
}

/** Payload types of telephone-event in our offers by its clock, in hertz; any dynamic ones would do. */
const OUR_TELEPHONE_EVENTS: Readonly<Record<number, number>> = { 8000: 101, 48000: 110 };

/** Clock of telephone-event that every far end has. */
const USUAL_EVENT_CLOCK_HZ = 8000;

/** @see RFC 3551 section 4.2 */
const USUAL_PTIME_MS = 20;

/** Our direction in the answer to each direction of an offer. @see RFC 3264 section 6.1 */
const OPPOSITE: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** Writes our offer: the codecs in their order, and telephone-event at their clocks; both ways. */
export function offer(ours: LocalMedia, codecs = USUAL_CODECS): string {
  const voices = [...new Set(codecs)].map((codec) => ({ codec, ...CODECS[codec] }));
  const clocks = voices.map(({ clockRateHz }) => clockRateHz);
  // Telephones with Opus often have telephone-event at 8000 Hz alone.
  const events = [...new Set([USUAL_EVENT_CLOCK_HZ, ...clocks])].flatMap((clockRateHz) => {
    const payloadType = OUR_TELEPHONE_EVENTS[clockRateHz];
    return payloadType === undefined ? [] : [{ payloadType, clockRateHz }];
  });
  const payloadTypes = [...voices, ...events].map(({ payloadType }) => payloadType);
  return joinLines([
    ...sessionLines(ours),
    `m=audio ${ours.port} ${ours.protocol ?? 'RTP/AVP'} ${payloadTypes.join(' ')}`,
    ...(ours.cryptoLines ?? []),
    ...voices.flatMap(({ codec, payloadType }) => codecLines(codec, payloadType)),
    ...events.flatMap(({ payloadType, clockRateHz }) =>
      telephoneEventLines(payloadType, clockRateHz),
    ),
    `a=ptime:${USUAL_PTIME_MS}`,
    'a=sendrecv',
  ]);
}

/**
 * Writes our answer: the first allowed voice codec of the offer; other streams are refused with port 0.
 *
 * @throws {SdpError} `unacceptable` when there is no common codec, and for RTP/SAVP without keys of ours.
 */
export function answer(
  theirs: SessionDescription,
  ours: LocalMedia,
  allowed = USUAL_CODECS,
): string {
  const agreed = agree(theirs, allowed);
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
export function agree(theirs: SessionDescription, allowed = USUAL_CODECS): AgreedMedia {
  const [offered] = allowedOf(theirs.codecs, allowed);
  const codec = offered && codecOf(offered);
  if (offered === undefined || codec === undefined) {
    const names = theirs.codecs.map(({ name }) => name);
    const state = noCommonCodec(names, allowed);
    throw new SdpError(`Cannot use SDP: ${state}`, { kind: 'unacceptable' });
  }
  return {
    address: theirs.address,
    port: theirs.port,
    rtcpPort: theirs.isRtcpMuxed ? theirs.port : (theirs.rtcpPort ?? theirs.port + 1),
    isRtcpMuxed: theirs.isRtcpMuxed,
    codec,
    payloadType: offered.payloadType,
    ...(codec === 'opus' && { opus: opusSettings(offered.parameters) }),
    ...agreedEvents(theirs, codec),
    ...(theirs.ptimeMs !== USUAL_PTIME_MS && { ptimeMs: theirs.ptimeMs }),
    maySend: theirs.direction === 'sendrecv' || theirs.direction === 'recvonly',
    mayReceive: theirs.direction === 'sendrecv' || theirs.direction === 'sendonly',
  };
}

/** telephone-event at the clock of the voice or, where that is missing, at 8000 Hz. RFC 4733, 2.1. */
function agreedEvents(
  { telephoneEvents }: SessionDescription,
  codec: CodecName,
): Pick<AgreedMedia, 'telephoneEventPayloadType' | 'telephoneEventClockHz'> {
  const at = (clockHz: number) =>
    telephoneEvents.find(({ clockRateHz }) => clockRateHz === clockHz);
  const event = at(CODECS[codec].clockRateHz) ?? at(USUAL_EVENT_CLOCK_HZ);
  if (event === undefined) return {};
  const { payloadType, clockRateHz } = event;
  const isUsual = clockRateHz === USUAL_EVENT_CLOCK_HZ;
  return {
    telephoneEventPayloadType: payloadType,
    ...(!isUsual && { telephoneEventClockHz: clockRateHz }),
  };
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
  const { telephoneEventClockHz = USUAL_EVENT_CLOCK_HZ } = agreed;
  const events = telephoneEventPayloadType === undefined ? [] : [telephoneEventPayloadType];
  return [
    `m=audio ${line.port} ${line.protocol} ${[payloadType, ...events].join(' ')}`,
    ...(line.cryptoLines ?? []),
    ...codecLines(codec, payloadType),
    ...events.flatMap((event) => telephoneEventLines(event, telephoneEventClockHz)),
    ...(agreed.isRtcpMuxed ? ['a=rtcp-mux'] : []),
    `a=ptime:${agreed.ptimeMs ?? USUAL_PTIME_MS}`,
    `a=${direction}`,
  ];
}

function codecLines(codec: CodecName, payloadType: number): string[] {
  const { encoding, parameters } = CODECS[codec];
  const format = `a=rtpmap:${payloadType} ${encoding}`;
  return parameters === undefined ? [format] : [format, `a=fmtp:${payloadType} ${parameters}`];
}

function telephoneEventLines(payloadType: number, clockRateHz: number): string[] {
  return [`a=rtpmap:${payloadType} telephone-event/${clockRateHz}`, `a=fmtp:${payloadType} 0-15`];
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
