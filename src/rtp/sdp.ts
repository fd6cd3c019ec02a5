/** Reads what the far end says about its audio (SDP) into a bounded, checked shape; pure */
import { isIPv4 } from 'node:net';
import * as sdpTransform from 'sdp-transform';

/** Which way audio flows, as the describing side sees it. @see RFC 3264 section 5.1 */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface OfferedCodec {
  readonly payloadType: number;
  /** In capitals, such as `PCMU`. */
  readonly name: string;
  readonly clockRateHz: number;
}

/** Media description (m-line), as an answer repeats it. */
export interface MediaDescription {
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  /** Payload types or other formats, separated by spaces. */
  readonly formats: string;
}

/** The first usable audio stream of an SDP body, and the m-lines around it. */
export interface SessionDescription {
  readonly sessionId: string;
  /** Version of the o-line; the same version means the same description. */
  readonly version: string;
  /** IPv4. */
  readonly address: string;
  readonly port: number;
  /** Where the a-line `rtcp` names one. */
  readonly rtcpPort?: number;
  readonly isRtcpMuxed: boolean;
  /** Voice codecs, best first, without telephone-event and comfort noise. */
  readonly codecs: readonly OfferedCodec[];
  /** Of telephone-event at 8000 Hz. */
  readonly telephoneEventPayloadType?: number;
  /** With the old way of holding (address 0.0.0.0) already read as `sendonly`. */
  readonly direction: Direction;
  readonly ptimeMs: number;
  readonly mediaLines: readonly MediaDescription[];
  /** Which of `mediaLines` is the audio stream. */
  readonly audioIndex: number;
}

/** `malformed`: not SDP, answer 400. `unacceptable`: SDP, but nothing that we can speak, answer 488. */
export type SdpErrorKind = 'malformed' | 'unacceptable';

export class SdpError extends Error {
  override readonly name = 'SdpError';
  readonly kind: SdpErrorKind;

  constructor(message: string, options: { readonly kind: SdpErrorKind } & ErrorOptions) {
    super(message, options);
    this.kind = options.kind;
  }
}

/** As much as a SIP message carries. A phone's offer has about 1,000 characters; a browser's with video about 8,000. */
const TEXT_LENGTH_MAX = 65_536;
const LINES_MAX = 512;
const MEDIA_LINES_MAX = 8;
const FORMATS_MAX = 64;

/** What is read without an rtpmap line. @see RFC 3551 section 6 */
const STATIC_CODECS: Readonly<Record<number, string>> = {
  0: 'PCMU',
  3: 'GSM',
  8: 'PCMA',
  9: 'G722',
  13: 'CN',
  18: 'G729',
};

/** Plain RTP. */
const PROTOCOLS = ['RTP/AVP', 'RTP/AVPF'];

/** SRTP with keys in the description; DTLS-SRTP is `UDP/TLS/RTP/SAVP`, or has no keys. RFC 4568, RFC 5764. */
const SECURE_PROTOCOLS = ['RTP/SAVP', 'RTP/SAVPF'];

export interface SdpOptions {
  /** Whether SRTP with keys in the description is usable; default false. */
  readonly hasSrtp?: boolean;
}

/**
 * Reads an offer or an answer. IPv6 and DTLS are never usable.
 *
 * @throws {SdpError}
 * @see RFC 8866
 */
export function parseSdp(text: string, { hasSrtp = false }: SdpOptions = {}): SessionDescription {
  const session = parseText(text);
  const media = session.media.map(readMediaDescription);
  const audioIndex = media.findIndex(
    (line, index) => isPlainAudio(line) || (hasSrtp && isKeyedAudio(line, session.media[index])),
  );
  const audio = session.media[audioIndex];
  const line = media[audioIndex];
  if (audio === undefined || line === undefined) throw noAudio(media, hasSrtp);
  const address = readAddress(audio.connection?.ip ?? session.connection?.ip);
  const formats = readFormats(line.formats, audio.rtp);
  const telephoneEvent = formats.find(
    ({ name, clockRateHz }) => name === 'TELEPHONE-EVENT' && clockRateHz === 8000,
  );
  const rtcpPort = audio.rtcp?.port;
  return {
    sessionId: String(session.origin?.sessionId ?? ''),
    version: String(session.origin?.sessionVersion ?? ''),
    address,
    port: line.port,
    ...(isPort(rtcpPort) ? { rtcpPort } : {}),
    isRtcpMuxed: audio.rtcpMux !== undefined,
    codecs: formats.filter(({ name }) => name !== 'TELEPHONE-EVENT' && name !== 'CN'),
    ...(telephoneEvent && { telephoneEventPayloadType: telephoneEvent.payloadType }),
    direction: readDirection(audio.direction ?? session.direction, address),
    ptimeMs: readPtime(audio.ptime),
    mediaLines: media,
    audioIndex,
  };
}

/** sdp-transform promises more than it checks: whatever it read may be missing or of another type. */
interface LooseSession {
  readonly media: readonly LooseMedia[];
  readonly origin?: { readonly sessionId?: unknown; readonly sessionVersion?: unknown };
  readonly connection?: { readonly ip?: unknown };
  readonly direction?: unknown;
}

interface LooseMedia {
  readonly type?: unknown;
  readonly port?: unknown;
  readonly protocol?: unknown;
  readonly payloads?: unknown;
  readonly connection?: { readonly ip?: unknown };
  readonly rtp: readonly LooseRtpmap[];
  readonly rtcp?: { readonly port?: unknown };
  readonly rtcpMux?: unknown;
  readonly crypto?: readonly { readonly config?: unknown }[];
  readonly direction?: unknown;
  readonly ptime?: unknown;
}

interface LooseRtpmap {
  readonly payload?: unknown;
  readonly codec?: unknown;
  readonly rate?: unknown;
}

function parseText(text: string): LooseSession {
  if (!/^\s*v=0\s/.test(text)) {
    throw new SdpError('Cannot read SDP: it does not begin with "v=0"', { kind: 'malformed' });
  }
  if (text.length > TEXT_LENGTH_MAX || text.split('\n', LINES_MAX + 1).length > LINES_MAX) {
    throw tooLong(`${TEXT_LENGTH_MAX} characters or ${LINES_MAX} lines`);
  }
  const session = parseLoosely(withOnePort(text));
  if (session.media.length > MEDIA_LINES_MAX) throw tooLong(`${MEDIA_LINES_MAX} m-lines`);
  return session;
}

function tooLong(most: string): SdpError {
  return new SdpError(`Cannot use SDP: more than ${most}`, { kind: 'unacceptable' });
}

/** A stream over several ports, `<port>/<number of ports>`, is none that we could take: it is read as refused. */
function withOnePort(text: string): string {
  return text.replace(
    /^(m=\S+ )(\d+)\/(\d+)(?= )/gm,
    (_, kind: string, port: string, count: string) => kind + (Number(count) === 1 ? port : '0'),
  );
}

function parseLoosely(text: string): LooseSession {
  try {
    return sdpTransform.parse(text);
  } catch (error) {
    throw new SdpError('Cannot read SDP: its lines make no sense', {
      kind: 'malformed',
      cause: error,
    });
  }
}

function readMediaDescription(media: LooseMedia): MediaDescription {
  const { type, port, protocol, payloads } = media;
  if (typeof type !== 'string' || typeof port !== 'number' || typeof protocol !== 'string') {
    throw new SdpError('Cannot read SDP: an m-line is not "m=<kind> <port> <proto>"', {
      kind: 'malformed',
    });
  }
  if (port !== 0 && !isPort(port)) {
    throw new SdpError(`Cannot read SDP: port ${port} of an m-line is out of range`, {
      kind: 'malformed',
    });
  }
  return { kind: type, port, protocol, formats: String(payloads ?? '') };
}

function isPlainAudio(line: MediaDescription): boolean {
  return line.kind === 'audio' && line.port !== 0 && PROTOCOLS.includes(line.protocol);
}

function isKeyedAudio(line: MediaDescription, media: LooseMedia | undefined): boolean {
  const hasKey = media?.crypto?.some(({ config }) => String(config).startsWith('inline:')) === true;
  const isSecure = SECURE_PROTOCOLS.includes(line.protocol);
  return line.kind === 'audio' && line.port !== 0 && isSecure && hasKey;
}

function noAudio(media: readonly MediaDescription[], hasSrtp: boolean): SdpError {
  const offered = media
    .filter(({ kind, port }) => kind === 'audio' && port !== 0)
    .map(({ protocol }) => protocol);
  const usable = hasSrtp ? 'RTP, or SRTP with keys (a=crypto)' : 'RTP';
  const found = offered.length === 0 ? 'no audio' : offered.join(', ');
  return new SdpError(`Cannot use SDP: usable is audio by ${usable}; it has ${found}`, {
    kind: 'unacceptable',
  });
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
}

function readAddress(ip: unknown): string {
  if (typeof ip !== 'string') {
    throw new SdpError('Cannot read SDP: no c-line for the audio stream', { kind: 'malformed' });
  }
  if (!isIPv4(ip)) {
    throw new SdpError('Cannot use SDP: the c-line has no IPv4 address', { kind: 'unacceptable' });
  }
  return ip;
}

function readFormats(formats: string, rtpmaps: readonly LooseRtpmap[]): readonly OfferedCodec[] {
  return formats
    .split(' ', FORMATS_MAX)
    .filter((format) => /^\d{1,3}$/.test(format) && Number(format) <= 127)
    .flatMap((format) => {
      const payloadType = Number(format);
      const rtpmap = rtpmaps.find(({ payload }) => payload === payloadType);
      const name = rtpmap === undefined ? STATIC_CODECS[payloadType] : rtpmap.codec;
      if (typeof name !== 'string') return [];
      const clockRateHz = Number(rtpmap?.rate ?? 8000);
      return [{ payloadType, name: name.toUpperCase(), clockRateHz }];
    });
}

function readDirection(attribute: unknown, address: string): Direction {
  const direction = isDirection(attribute) ? attribute : 'sendrecv';
  if (address !== '0.0.0.0') return direction;
  // RFC 2543 put a call on hold with this address: nothing may be sent there. RFC 3264, 8.4.
  return direction === 'sendrecv' || direction === 'sendonly' ? 'sendonly' : 'inactive';
}

function isDirection(attribute: unknown): attribute is Direction {
  return (
    attribute === 'sendrecv' ||
    attribute === 'sendonly' ||
    attribute === 'recvonly' ||
    attribute === 'inactive'
  );
}

function readPtime(ptime: unknown): number {
  return typeof ptime === 'number' && ptime >= 10 && ptime <= 200 ? ptime : 20;
}
