/** Voice codecs on the wire: their names, payload types, RTP clocks and parameters in SDP; pure */
import type { OfferedCodec } from './sdp.ts';

/** Supported voice codecs, named as in SDP. */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus';

interface Codec {
  /** In our offers; an answer repeats its offer's. @see RFC 3551 section 6 */
  readonly payloadType: number;
  /** Rate of RTP timestamps. That of G.722 is 8000, although it has 16,000 samples a second. @see RFC 3551 section 4.5.2 */
  readonly clockRateHz: number;
  /** Encoding of a=rtpmap. */
  readonly encoding: string;
  /** Value of a=fmtp. */
  readonly parameters?: string;
}

/**
 * Opus is sent and played at 8 kHz, mono, and its in-band FEC is used. Narrowband speech has 12 kbit/s; the rest is FEC's.
 *
 * @see RFC 7587 sections 3.1.1 and 6.1
 */
const OPUS_BIT_RATE = 20_000;
const OPUS_PARAMETERS = [
  ...['maxplaybackrate=8000', 'sprop-maxcapturerate=8000'],
  ...[`maxaveragebitrate=${OPUS_BIT_RATE}`, 'stereo=0', 'useinbandfec=1'],
].join(';');

/** Properties of each codec. */
export const CODECS: Readonly<Record<CodecName, Codec>> = {
  PCMU: { payloadType: 0, clockRateHz: 8000, encoding: 'PCMU/8000' },
  PCMA: { payloadType: 8, clockRateHz: 8000, encoding: 'PCMA/8000' },
  G722: { payloadType: 9, clockRateHz: 8000, encoding: 'G722/8000' },
  opus: {
    ...{ payloadType: 111, clockRateHz: 48_000, encoding: 'opus/48000/2' },
    parameters: OPUS_PARAMETERS,
  },
};

/** All codecs, in the order in which they are offered. */
export const CODEC_NAMES = Object.keys(CODECS) as readonly CodecName[];

/** Codecs of a trunk that names none, in the order of our offers. */
export const USUAL_CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];

/** Most codecs of a far end that a message names. */
const NAMED_MAX = 8;

/** Words for a description without a common codec. @param offered names of the far end's codecs, as it wrote them. */
export function noCommonCodec(offered: readonly string[], allowed: readonly CodecName[]): string {
  const names = [...new Set(offered)].filter((name) => /^[\w.-]{1,20}$/.test(name));
  const theirs = names.slice(0, NAMED_MAX).join(', ') || 'none that has a name';
  return `usable is ${allowed.join(' or ')}; it has ${theirs}`;
}

/** Our name of a codec in SDP, where names have no case; undefined for others. */
export function codecOf({ name, clockRateHz }: OfferedCodec): CodecName | undefined {
  const ours = CODEC_NAMES.find((codec) => codec.toUpperCase() === name);
  return ours !== undefined && CODECS[ours].clockRateHz === clockRateHz ? ours : undefined;
}

/** Whether the codec is G.711: a table turns packets of one law into the other, byte for byte. */
export function isG711(codec: CodecName | undefined): codec is 'PCMU' | 'PCMA' {
  return codec === 'PCMU' || codec === 'PCMA';
}

/**
 * The allowed codecs of an offer, the best first: G.711, G.722 and Opus in the order of `allowed`; the two laws of G.711,
 * which cost and sound the same, in the offer's order.
 */
export function preferred(
  offered: readonly OfferedCodec[],
  allowed: readonly CodecName[],
): readonly OfferedCodec[] {
  const rank = (codec: OfferedCodec) => {
    const name = codecOf(codec);
    return allowed.findIndex((other) => other === name || (isG711(other) && isG711(name)));
  };
  return allowedOf(offered, allowed).toSorted((one, other) => rank(one) - rank(other));
}

/** The allowed codecs of a description, in its order: the far end sends the first codec of an answer. */
export function allowedOf(
  offered: readonly OfferedCodec[],
  allowed: readonly CodecName[],
): readonly OfferedCodec[] {
  return offered.filter((codec) => allowed.some((name) => name === codecOf(codec)));
}

/** Settings that the far end asks for in the Opus that is sent to it. */
export interface OpusSettings {
  readonly bitRate: number;
  /** Whether packets repeat their predecessors (in-band FEC), which the far end can use. */
  readonly hasFec: boolean;
}

/** Least bit rate of Opus. */
const BIT_RATE_MIN = 6000;

/** Reads a=fmtp of Opus; wrong values count as absent. @see RFC 7587 section 6.1 */
export function opusSettings(parameters = ''): OpusSettings {
  const asked = Number(/(?:^|[;\s])maxaveragebitrate=(\d{1,7})(?:[;\s]|$)/i.exec(parameters)?.[1]);
  const limit = asked >= BIT_RATE_MIN ? asked : OPUS_BIT_RATE;
  const hasFec = /(?:^|[;\s])useinbandfec=1(?:[;\s]|$)/i.test(parameters);
  return { bitRate: Math.min(OPUS_BIT_RATE, limit), hasFec };
}
