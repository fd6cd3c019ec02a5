/** Reads SDP: the far end's audio stream, checked and of limited size; pure */
import { isIPv4 } from 'node:net';
import * as sdpTransform from 'sdp-transform';
import {
  type CryptoLine,
  joinSessionParameters,
  readCryptoLines,
  type SrtpPolicy,
  SUPPORTED_SUITES,
  suitesIn,
} from './srtp/sdes.ts';

/** Which way audio flows, as the describing side sees it. @see RFC 3264 section 5.1 */
export type Direction = (typeof DIRECTIONS)[number];

const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;

/** A codec of an offer: its payload type there, clock and parameters. */
export interface OfferedCodec {
  readonly payloadType: number;
  /** In capitals, such as `PCMU`. */
  readonly name: string;
  readonly clockRateHz: number;
  /** Value of its a=fmtp line. */
  readonly parameters?: string;
}

/** Media description (m-line), as an answer repeats it. */
export interface MediaDescription {
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  /** Payload types or other formats, separated by spaces. */
  readonly formats: string;
}

/** First usable audio stream of an SDP body, and all its media descriptions. */
export interface SessionDescription {
  readonly sessionId: string;
  /** Version of the o-line; the same version means the same description. */
  readonly version: string;
  /** IPv4. */
  readonly address: string;
  readonly port: number;
  /** Port of the a-line `rtcp`. */
  readonly rtcpPort?: number;
  readonly isRtcpMuxed: boolean;
  /** Voice codecs, best first, without telephone-event and comfort noise. */
  readonly codecs: readonly OfferedCodec[];
  /** telephone-event, at each clock rate that it is described with. */
  readonly telephoneEvents: readonly OfferedCodec[];
  /** Hold by RFC 2543 (address 0.0.0.0) reads as `sendonly`. */
  readonly direction: Direction;
  /** Length of the packets that the far end asks for: `ptime`, `maxptime` at most; 10 to 60 in steps of 10, 20 unless given. */
  readonly ptimeMs: number;
  /** Usable keys of the audio stream, best first; absent for plain RTP. */
  readonly cryptoLines?: readonly CryptoLine[];
  readonly mediaLines: readonly MediaDescription[];
  /** Which of `mediaLines` is the audio stream. */
  readonly audioIndex: number;
}

/** `malformed`: not SDP, answer 400. `unacceptable`: SDP without a usable stream or codec, answer 488. */
export type SdpErrorKind = 'malformed' | 'unacceptable';

/** A session description that cannot be used. */
export class SdpError extends Error {
  override readonly name = 'SdpError';
  readonly kind: SdpErrorKind;

  constructor(message: string, options: { readonly kind: SdpErrorKind } & ErrorOptions) {
    super(message, options);
    this.kind = options.kind;
  }
}

/** Length of the largest SIP message. A phone's offer has about 1,000 characters, a browser's with video about 8,000. */
const TEXT_LENGTH_MAX = 65_536;
const LINES_MAX = 512;
const MEDIA_LINES_MAX = 8;
const FORMATS_MAX = 64;

/** Payload types that need no rtpmap line. @see RFC 3551 section 6 */
export const STATIC_CODECS: Readonly<Record<number, string>> = {
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

/** Which audio streams are usable. */
interface SdpOptions {
  /** Whether SRTP with keys of any suite is usable besides plain RTP; default: false. */
  readonly hasSrtp?: boolean;
  /** Our own SRTP; default: off. */
  readonly srtp?: SrtpPolicy | undefined;
}

/**
 * Reads an offer or an answer. IPv6 and DTLS are never usable.
 *
 * @throws {SdpError}
 * @see RFC 8866
 */
export function parseSdp(text: string, options: SdpOptions = {}): SessionDescription {
  const session = parseText(text);
  const media = session.media.map(readMediaDescription);
  const audioIndex = findAudio(media, session.media, options);
  const audio = session.media[audioIndex];
  const line = media[audioIndex];
  if (audio === undefined || line === undefined) throw noAudio(media, session.media, options);
  const cryptoLines = isOn(options.srtp) ? readCryptoLines(audio.crypto) : [];
  const address = readAddress(audio.connection?.ip ?? session.connection?.ip);
  const formats = readFormats(line.formats, audio);
  const rtcpPort = audio.rtcp?.port;
  return {
    sessionId: String(session.origin?.sessionId ?? ''),
    version: String(session.origin?.sessionVersion ?? ''),
    address,
    port: line.port,
    ...(isPort(rtcpPort) ? { rtcpPort } : {}),
    isRtcpMuxed: audio.rtcpMux !== undefined,
    codecs: formats.filter(({ name }) => name !== 'TELEPHONE-EVENT' && name !== 'CN'),
    telephoneEvents: formats.filter(({ name }) => name === 'TELEPHONE-EVENT'),
    direction: readDirection(audio.direction ?? session.direction, address),
    ptimeMs: readPtime(audio.ptime, audio.maxptime),
    ...(cryptoLines.length > 0 && { cryptoLines }),
    mediaLines: media,
    audioIndex,
  };
}

/** sdp-transform checks less than its types promise: fields are read as unknown values. */
type ParsedSession = sdpTransform.SessionDescription;
type ParsedMedia = ParsedSession['media'][number];

function parseText(text: string): ParsedSession {
  if (!/^\s*v=0\s/.test(text)) {
    throw malformed('it does not begin with "v=0"');
  }
  if (text.length > TEXT_LENGTH_MAX || text.split('\n', LINES_MAX + 1).length > LINES_MAX) {
    throw unacceptable(`more than ${TEXT_LENGTH_MAX} characters or ${LINES_MAX} lines`);
  }
  const session = parseLoosely(joinSessionParameters(withOnePort(text)));
  if (session.media.length > MEDIA_LINES_MAX) {
    throw unacceptable(`more than ${MEDIA_LINES_MAX} m-lines`);
  }
  return session;
}

/** Reads a stream over several ports, `<port>/<number of ports>`, as refused. */
function withOnePort(text: string): string {
  return text.replace(
    /^(m=\S+ )(\d+)\/(\d+)(?= )/gm,
    (_, kind: string, port: string, count: string) => kind + (Number(count) === 1 ? port : '0'),
  );
}

function parseLoosely(text: string): ParsedSession {
  try {
    return sdpTransform.parse(text);
  } catch (error) {
    throw malformed('a line is not valid', error);
  }
}

function malformed(state: string, cause?: unknown): SdpError {
  return new SdpError(`Cannot read SDP: ${state}`, { kind: 'malformed', cause });
}

function unacceptable(state: string): SdpError {
  return new SdpError(`Cannot use SDP: ${state}`, { kind: 'unacceptable' });
}

function readMediaDescription(media: ParsedMedia): MediaDescription {
  const { type, port, protocol, payloads } = media;
  if (typeof type !== 'string' || typeof port !== 'number' || typeof protocol !== 'string') {
    throw malformed('an m-line is not "m=<kind> <port> <proto>"');
  }
  if (port !== 0 && !isPort(port)) {
    throw malformed(`port ${port} of an m-line is out of range`);
  }
  return { kind: type, port, protocol, formats: String(payloads ?? '') };
}

/** The stream to use: with our SRTP the first that is encrypted, else the first plain one where that may be. */
function findAudio(
  lines: readonly MediaDescription[],
  media: readonly ParsedMedia[],
  { hasSrtp = false, srtp = 'off' }: SdpOptions,
): number {
  const secured = isOn(srtp)
    ? lines.findIndex((line, index) => isSecuredAudio(line, media[index]))
    : -1;
  if (secured >= 0 || srtp === 'required') return secured;
  return lines.findIndex(
    (line, index) => isPlainAudio(line) || (hasSrtp && isKeyedAudio(line, media[index])),
  );
}

function isOn(srtp: SrtpPolicy | undefined): boolean {
  return srtp === 'required' || srtp === 'preferred';
}

function isPlainAudio(line: MediaDescription): boolean {
  return line.kind === 'audio' && line.port !== 0 && PROTOCOLS.includes(line.protocol);
}

function isKeyedAudio(line: MediaDescription, media: ParsedMedia | undefined): boolean {
  const hasKey = media?.crypto?.some(({ config }) => String(config).startsWith('inline:')) === true;
  return line.kind === 'audio' && line.port !== 0 && isSecure(line) && hasKey;
}

/** SRTP that we can do. Keys with plain RTP's name are best-effort SRTP. RFC 8643. */
function isSecuredAudio(line: MediaDescription, media: ParsedMedia | undefined): boolean {
  const isAudio =
    isPlainAudio(line) || (line.kind === 'audio' && line.port !== 0 && isSecure(line));
  return isAudio && readCryptoLines(media?.crypto).length > 0;
}

function isSecure({ protocol }: MediaDescription): boolean {
  return SECURE_PROTOCOLS.includes(protocol);
}

function noAudio(
  lines: readonly MediaDescription[],
  media: readonly ParsedMedia[],
  { hasSrtp = false, srtp = 'off' }: SdpOptions,
): SdpError {
  const offered = lines.flatMap(({ kind, port, protocol }, index) => {
    if (kind !== 'audio' || port === 0) return [];
    const suites = isOn(srtp) ? suitesIn(media[index]?.crypto) : '';
    return [suites === '' ? protocol : `${protocol} with ${suites}`];
  });
  const ours = `SRTP with keys (a=crypto: ${SUPPORTED_SUITES})`;
  const keyed = hasSrtp ? 'RTP, or SRTP with keys (a=crypto)' : 'RTP';
  const usable = { off: keyed, preferred: `RTP, or ${ours}`, required: ours }[srtp];
  const found = offered.length === 0 ? 'no audio' : offered.join(', ');
  return unacceptable(`usable is audio by ${usable}; it has ${found}`);
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
}

function readAddress(ip: unknown): string {
  if (typeof ip !== 'string') {
    throw malformed('no c-line for the audio stream');
  }
  if (!isIPv4(ip)) {
    throw unacceptable('the c-line has no IPv4 address');
  }
  return ip;
}

function readFormats(
  formats: string,
  { rtp: rtpmaps, fmtp }: Pick<ParsedMedia, 'rtp' | 'fmtp'>,
): readonly OfferedCodec[] {
  return formats
    .split(' ', FORMATS_MAX)
    .filter((format) => /^\d{1,3}$/.test(format) && Number(format) <= 127)
    .flatMap((format) => {
      const payloadType = Number(format);
      const rtpmap = rtpmaps.find(({ payload }) => payload === payloadType);
      const name = rtpmap === undefined ? STATIC_CODECS[payloadType] : rtpmap.codec;
      if (typeof name !== 'string') return [];
      const clockRateHz = Number(rtpmap?.rate ?? 8000);
      const parameters: unknown = fmtp.find(({ payload }) => payload === payloadType)?.config;
      const given = typeof parameters === 'string' ? { parameters } : {};
      return [{ payloadType, name: name.toUpperCase(), clockRateHz, ...given }];
    });
}

function readDirection(attribute: unknown, address: string): Direction {
  const direction = DIRECTIONS.find((known) => known === attribute) ?? 'sendrecv';
  if (address !== '0.0.0.0') return direction;
  // Hold by RFC 2543: nothing may be sent to this address. RFC 3264, 8.4.
  return direction === 'sendrecv' || direction === 'sendonly' ? 'sendonly' : 'inactive';
}

const [PTIME_MS, PTIME_MS_MIN, PTIME_MS_MAX, PTIME_MS_STEP] = [20, 10, 60, 10];

function readPtime(ptime: unknown, maxptime: unknown): number {
  const isAsked = typeof ptime === 'number' && ptime >= PTIME_MS_MIN && ptime <= 200;
  const hasLimit = typeof maxptime === 'number' && maxptime >= PTIME_MS_MIN;
  const wantedMs = Math.min(isAsked ? ptime : PTIME_MS, hasLimit ? maxptime : PTIME_MS_MAX);
  return Math.min(PTIME_MS_MAX, Math.floor(wantedMs / PTIME_MS_STEP) * PTIME_MS_STEP);
}
