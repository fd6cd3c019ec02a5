/** SDP of browsers: reduces an offer to one G.711 audio stream over DTLS-SRTP, and completes our answer with the addresses of this machine. */

import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { type Clock, within } from '../../lib/clock.ts';
import { interfaceAddresses, isLoopback } from '../../lib/local-routes.ts';
import type { Direction } from '../../rtp/sdp.ts';
import { MediaError } from '../media-gateway.ts';

/** Accepted parts of a browser's offer. */
export interface BrowserOffer {
  /** The offer with supported lines only: PCMU, telephone-event, one fingerprint, reachable candidates. */
  readonly sdp: string;
  /** Payload type of telephone-event at 8000 Hz; undefined without one. */
  readonly telephoneEventPayloadType: number | undefined;
  /** Whether the browser plays audio: false while it has us on hold. */
  readonly doesListen: boolean;
  readonly doesSpeak: boolean;
  /** ICE and DTLS identity of the connection; another one needs a new negotiation. */
  readonly connection: string;
}

/** Chromium's offer of one stream has some 2,500 characters. */
const TEXT_LENGTH_MAX = 16_384;

/** A laptop with three networks names six. */
const CANDIDATES_MAX = 20;

const PCMU = 0;

const DIRECTION = /^a=(sendrecv|sendonly|recvonly|inactive)$/;

/** Lines that are passed on unchanged. */
const KEPT =
  /^(v=0|o=|s=|t=|c=|m=audio |a=(group:BUNDLE |mid:|ice-ufrag:|ice-pwd:|ice-options:|fingerprint:sha-|setup:|rtcp-mux$|rtcp:|ssrc:|msid:|msid-semantic:|end-of-candidates$))/;

/**
 * Reads a browser's offer.
 *
 * @throws {MediaError} 400 when it is no description, 488 when it needs media that is not supported.
 */
export function readOffer(text: string): BrowserOffer {
  const lines = linesOf(text);
  const media = lines.filter((line) => line.startsWith('m='));
  const [stream = ''] = media;
  if (media.length !== 1 || !/^m=audio \d{1,5} UDP\/TLS\/RTP\/SAVPF /.test(stream)) {
    throw new MediaError('Cannot use SDP: expected one audio stream by DTLS-SRTP', 488);
  }
  const payloadTypes = stream.split(' ').slice(3);
  if (!payloadTypes.includes(String(PCMU))) {
    throw new MediaError('Cannot use SDP: PCMU is not in it', 488);
  }
  const connection = ['a=ice-ufrag:', 'a=ice-pwd:', 'a=fingerprint:sha-'].map((start) =>
    lines.find((line) => line.startsWith(start)),
  );
  if (connection.includes(undefined) || !lines.includes('a=rtcp-mux')) {
    throw new MediaError('Cannot use SDP: no ICE, no fingerprint, or RTCP apart from RTP', 488);
  }
  const telephoneEventPayloadType = telephoneEventOf(lines, payloadTypes);
  const [, direction = 'sendrecv'] =
    lines.map((line) => DIRECTION.exec(line)).find((found) => found !== null) ?? [];
  return {
    sdp: join(offerLines(lines, stream, telephoneEventPayloadType)),
    telephoneEventPayloadType,
    doesListen: direction === 'sendrecv' || direction === 'recvonly',
    doesSpeak: direction === 'sendrecv' || direction === 'sendonly',
    connection: connection.join(' '),
  };
}

/** The parts of our SDP that change during a call. */
interface OurSide {
  readonly sessionId: number;
  readonly version: number;
  readonly direction: Direction;
}

/** Our description in our name and with that direction. */
export function withOurSide(sdp: string, { sessionId, version, direction }: OurSide): string {
  const lines = linesOf(sdp).map((line) => {
    if (line.startsWith('o=')) return `o=- ${sessionId} ${version} IN IP4 127.0.0.1`;
    return DIRECTION.test(line) ? `a=${direction}` : line;
  });
  return join(lines);
}

/** Direction of the answer to an offer. RFC 3264, 6.1. */
export function directionFor(offer: Pick<BrowserOffer, 'doesListen' | 'doesSpeak'>): Direction {
  if (offer.doesListen) return offer.doesSpeak ? 'sendrecv' : 'sendonly';
  return offer.doesSpeak ? 'recvonly' : 'inactive';
}

/**
 * Adds candidates for more addresses on the same port, and ptime 20 ms.
 *
 * @param sdp SDP with one host candidate, whose socket listens on all addresses.
 * @param addresses IPv4, best first, including that of the candidate.
 */
export function withAddresses(sdp: string, addresses: readonly string[]): string {
  return join(
    linesOf(sdp).flatMap((line) => {
      if (line.startsWith('a=mid:')) return [line, 'a=ptime:20'];
      const [, before, , after] =
        /^(a=candidate:\S+ 1 udp )(\d+) \S+ (\d+ typ host.*)$/.exec(line) ?? [];
      if (before === undefined) return [line];
      return addresses.map((address, index) => {
        const named = before.replace(/^(a=candidate:\S+)/, `$1${index}`);
        return `${named}${hostPriority(index)} ${address} ${after}`;
      });
    }),
  );
}

/** RFC 8445, 5.1.2.1: of type host, the address's place in our order of preference, component 1. */
function hostPriority(index: number): number {
  return 126 * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255;
}

function linesOf(text: string): readonly string[] {
  if (text.length > TEXT_LENGTH_MAX || !text.startsWith('v=0')) {
    throw new MediaError('Cannot read SDP: too long, or it does not begin with "v=0"', 400);
  }
  return text.split(/\r?\n/).filter((line) => line !== '');
}

function telephoneEventOf(
  lines: readonly string[],
  payloadTypes: readonly string[],
): number | undefined {
  const found = lines
    .map((line) => /^a=rtpmap:(\d{2,3}) telephone-event\/8000$/i.exec(line)?.[1])
    .find((type) => type !== undefined && payloadTypes.includes(type));
  const payloadType = Number(found);
  return payloadType >= 96 && payloadType <= 127 ? payloadType : undefined;
}

/** Session lines, and the supported lines of the stream. */
function offerLines(
  lines: readonly string[],
  stream: string,
  telephoneEvent: number | undefined,
): readonly string[] {
  const types = telephoneEvent === undefined ? [PCMU] : [PCMU, telephoneEvent];
  const kept = lines.filter((line) => KEPT.test(line) || DIRECTION.test(line));
  const candidates = lines.filter(isReachable).slice(0, CANDIDATES_MAX);
  const head = stream.split(' ').slice(0, 3).join(' ');
  return [
    ...kept.map((line) => (line === stream ? `${head} ${types.join(' ')}` : line)),
    `a=rtpmap:${PCMU} PCMU/8000`,
    ...(telephoneEvent === undefined
      ? []
      : [`a=rtpmap:${telephoneEvent} telephone-event/8000`, `a=fmtp:${telephoneEvent} 0-15`]),
    ...candidates,
  ];
}

/** Host names are dropped: they would need mDNS, and the browser connects to us anyway. */
function isReachable(line: string): boolean {
  const [, address = ''] =
    /^a=candidate:\S{1,64} 1 udp \d{1,10} (\S+) \d{1,5} typ (?:host|srflx|prflx|relay)\b/i.exec(
      line,
    ) ?? [];
  return isIPv4(address);
}

function join(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}

const LOOPBACK = '127.0.0.1';

/** A browser tries them all; more than that is no machine but a network. */
const ADDRESSES_MAX = 16;

/** A known name resolves within this time. */
const LOOKUP_MS_MAX = 1_000;

/**
 * Addresses for ICE candidates: loopback if pages are served on it only; otherwise all addresses of the machine, and
 * that of its public name.
 *
 * @param listening listening address of the web server.
 * @param known host of the public URL.
 */
export async function addressesFor(
  listening: string,
  known: string,
  clock: Clock,
): Promise<readonly string[]> {
  if (isLoopback(listening) && isLoopback(known)) return [LOOPBACK];
  const found = lookup(known, { family: 4, all: true });
  // Without a name server the machine's own addresses must do.
  const others = await within(clock, LOOKUP_MS_MAX, found).catch(() => []);
  return hostAddresses(others.map(({ address }) => address));
}

/**
 * Reachable IPv4 addresses of this machine, or loopback without one.
 *
 * @param others other IPv4 addresses that lead here, such as that of a NAT.
 */
export function hostAddresses(others: readonly string[] = []): readonly string[] {
  const own = interfaceAddresses()
    // RFC 3927: addresses that are valid on one link only.
    .filter(({ family, internal, address }) => {
      return family === 'IPv4' && !internal && !address.startsWith('169.254.');
    })
    .map(({ address }) => address);
  const known = others.filter((address) => !isLoopback(address));
  const all = [...new Set([...own, ...known])].slice(0, ADDRESSES_MAX);
  return all.length > 0 ? all : [LOOPBACK];
}
