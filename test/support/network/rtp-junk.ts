/** What no telephone sends: octets by chance, packets beyond all measure, and a voice that has no call. */
import { encodeG711 } from '../../../src/media/dsp/g711.ts';
import type { RtpPacket } from '../../../src/rtp/packet.ts';
import { seededChance } from '../sip/sip-mutants.ts';
import { tone } from '../speech/tone.ts';

const SEED = 4475;
const FRAME_MS = 20;

/** Datagrams of any length below `bytesMax`, none too; the same in every run. */
export function garbage(count: number, bytesMax: number): Buffer[] {
  const chance = seededChance(SEED);
  const below = (limit: number) => Math.floor(chance() * limit);
  return Array.from({ length: count }, () =>
    Buffer.from(Array.from({ length: below(bytesMax) }, () => below(256))),
  );
}

/** RTP of PCMU, and nearly as long as a datagram can be. */
export function hugeRtp(): Buffer {
  return Buffer.concat([Buffer.from([0x80, 0]), Buffer.alloc(60_000)]);
}

/** Packets of 20 ms of a tone in PCMU. */
export function toneRtp(options: {
  readonly count: number;
  readonly ssrc: number;
  /** Of the first of them. */
  readonly sequence: number;
  readonly frequencyHz: number;
  readonly amplitude: number;
}): RtpPacket[] {
  const { count, ssrc, frequencyHz, amplitude } = options;
  const payload = encodeG711('PCMU', tone(frequencyHz, FRAME_MS, amplitude));
  return Array.from({ length: count }, (_, index) => {
    const sequence = (options.sequence + index) & 0xffff;
    const timestamp = sequence * payload.length;
    return { payloadType: 0, hasMarker: false, sequence, timestamp, ssrc: ssrc >>> 0, payload };
  });
}
