/** SDP between a carrier, FreeSWITCH and the media engine, and our changes to it; pure */
import { type CodecName, noCommonCodec } from '../../rtp/codecs.ts';
import { parseSdp, SdpError, STATIC_CODECS } from '../../rtp/sdp.ts';
import { offer } from '../../rtp/sdp-answer.ts';
import type { Source } from '../../rtp/source-lock.ts';
import { MediaError, sdpRefusal } from '../media-gateway.ts';

/** Direction of the audio, from the far end's point of view. */
export interface Flow {
  /** False while the far end has us on hold. */
  readonly doesListen: boolean;
  readonly doesSpeak: boolean;
}

/**
 * Leaves only the codecs that a trunk may have in a carrier's description.
 *
 * @param codecs all that FreeSWITCH speaks when not given.
 * @throws {MediaError} 400 when it is no description; 488 without a usable audio stream (DTLS-SRTP, SRTP without keys,
 * IPv6), or without any of the codecs.
 */
export function limited(sdp: string, codecs: readonly CodecName[] | undefined): string {
  refuseUnusable(sdp);
  if (codecs === undefined) return sdp;
  const names = namesOf(sdp);
  const allowed = ['TELEPHONE-EVENT', ...codecs.map((name) => name.toUpperCase())];
  const isAllowed = (type: string) => {
    const name = names.get(type) ?? STATIC_CODECS[Number(type)] ?? '';
    return allowed.includes(name);
  };
  const offered: string[] = [];
  const isVoice = (type: string) => isAllowed(type) && names.get(type) !== 'TELEPHONE-EVENT';
  let hasVoice = false;
  const lines = sdp.split(/\r?\n/).map((line) => {
    const [, start, types = ''] = /^(m=audio \d+ \S+) (.*)$/.exec(line) ?? [];
    if (start === undefined) return line;
    const all = types.trim().split(/\s+/);
    offered.push(...all.map((type) => names.get(type) ?? STATIC_CODECS[Number(type)] ?? ''));
    const kept = all.filter(isAllowed);
    if (kept.some(isVoice)) hasVoice = true;
    return `${start} ${kept.join(' ')}`;
  });
  if (!hasVoice) {
    const voices = offered.filter((name) => name !== 'TELEPHONE-EVENT' && name !== 'CN');
    throw new MediaError(`Cannot use SDP: ${noCommonCodec(voices, codecs)}`, 488);
  }
  return lines.join('\r\n');
}

/** Direction of an SDP. The old form of hold, address 0.0.0.0, counts too. RFC 3264, 8.4. */
export function flowOf(sdp: string): Flow {
  const [, direction = 'sendrecv'] =
    /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/m.exec(sdp) ?? [];
  const isHeldTheOldWay = /^c=IN IP4 0\.0\.0\.0\s*$/m.test(sdp);
  return {
    doesListen: !isHeldTheOldWay && (direction === 'sendrecv' || direction === 'recvonly'),
    doesSpeak: direction === 'sendrecv' || direction === 'sendonly',
  };
}

/** RTP address of a FreeSWITCH leg, from its SDP, plain or SRTP. @throws {MediaError} 503 without one. */
export function placeOf(sdp: string): { readonly address: string; readonly port: number } {
  const [, address = ''] = /^c=IN IP4 (\S+)/m.exec(sdp) ?? [];
  const [, port = '0'] = /^m=audio ([1-9]\d*) /m.exec(sdp) ?? [];
  if (address === '' || port === '0') {
    throw new MediaError('Cannot set up sound in FreeSWITCH: it gave no port', 503);
  }
  return { address, port: Number(port) };
}

/** RTP address of a far end, from its SDP; undefined without one, and for the old form of hold. */
export function rtpPlaceOf(sdp: string): Source | undefined {
  const [session = '', ...media] = sdp.split(/^(?=m=)/m);
  const audio = media.find((section) => section.startsWith('m=audio ')) ?? '';
  const port = Number(/^m=audio (\d+) /.exec(audio)?.[1] ?? 0);
  const address = connectionIn(audio) ?? connectionIn(session);
  const isAnywhere = address === undefined || address === '0.0.0.0' || port === 0;
  return isAnywhere ? undefined : { address, port };
}

/** The same description with another address and port for RTP. */
export function withRtpPlace(sdp: string, { address, port }: Source): string {
  return sdp.replace(/^(c=IN IP4 )\S+/gm, `$1${address}`).replace(/^(m=audio )\d+/m, `$1${port}`);
}

/**
 * SDP in our name: constant session id, our version, explicit direction.
 *
 * @param ours.address IPv4 for RTP and RTCP; default: FreeSWITCH's own. Its `ext-rtp-ip` has no effect on SIP from
 * loopback.
 */
export function withOrigin(
  sdp: string,
  ours: {
    readonly sessionId: number;
    readonly version: number;
    readonly address: string | undefined;
  },
): string {
  const { sessionId, version, address = connectionIn(sdp) ?? '127.0.0.1' } = ours;
  const told = sdp.replace(/^((?:c=|a=rtcp:\d+ )IN IP4 )\S+/gm, `$1${address}`);
  const [session = '', ...media] = told.split(/^(?=m=)/m);
  const origin = `o=- ${sessionId} ${version} IN IP4 ${address}`;
  const named = session.replace(/^o=[^\r\n]*/m, origin).replace(/^s=[^\r\n]*/m, 's=-');
  return [named, ...media.map(withDirection)].join('');
}

function connectionIn(sdp: string): string | undefined {
  return /^c=IN IP4 (\S+)/m.exec(sdp)?.[1];
}

/** FreeSWITCH omits the default direction; some phones on hold need it to resume. */
function withDirection(media: string): string {
  const isSaid = /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/m.test(media);
  return isSaid || !media.startsWith('m=audio') ? media : `${media.trimEnd()}\r\na=sendrecv\r\n`;
}

/** FreeSWITCH fails late, or answers nonsense, without a usable stream. */
function refuseUnusable(sdp: string): void {
  try {
    parseSdp(sdp, { hasSrtp: true });
  } catch (error) {
    throw error instanceof SdpError ? sdpRefusal(error) : error;
  }
}

function namesOf(sdp: string): ReadonlyMap<string, string> {
  const found = sdp.matchAll(/^a=rtpmap:(\d{1,3}) ([^/\s]+)/gm);
  return new Map([...found].map(([, type = '', name = '']) => [type, name.toUpperCase()]));
}

/** SDP of the engine's port for FreeSWITCH: PCMU, which avoids transcoding on most trunks. */
export function engineOffer(port: number, address: string): string {
  return offer({ address, port, sessionId: 1, version: 1 }, ['PCMU']);
}

/** SDP for FreeSWITCH in place of a carrier's that is not known yet: any address, inactive. */
export function silentOffer(codecs: readonly CodecName[] | undefined): string {
  const nowhere = { address: '127.0.0.1', port: 9, sessionId: 1, version: 1 };
  return offer(nowhere, codecs).replace('a=sendrecv', 'a=inactive');
}
