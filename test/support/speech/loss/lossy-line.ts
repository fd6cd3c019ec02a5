/** Lines that lose packets of 20 ms, at random or in bursts, and what is heard over them; pure */
import { LossConcealment } from '../../../../src/media/dsp/loss-concealment.ts';
import { seededChance } from '../../sip/sip-mutants.ts';

const FRAME_SAMPLES = 160;

export interface LossPattern {
  readonly lossPercent: number;
  /** Mean length of a burst in packets; 1: losses at random. */
  readonly burst: number;
  readonly seed: number;
}

/** Whether each packet is lost. A burst goes on by chance, so that the share of lost packets is as asked (Gilbert's model). */
export function lostPackets(
  packets: number,
  { lossPercent, burst, seed }: LossPattern,
): readonly boolean[] {
  const chance = seededChance(seed);
  const share = lossPercent / 100;
  const stay = burst === 1 ? share : 1 - 1 / burst;
  const begin = burst === 1 ? share : (share * (1 - stay)) / (1 - share);
  const lost: boolean[] = [];
  for (let packet = 0; packet < packets; packet += 1) {
    lost.push(chance() < (lost.at(-1) === true ? stay : begin));
  }
  return lost;
}

/** The sound with its lost packets concealed, or silent. */
export function heardOver(
  pcm: Int16Array,
  lost: readonly boolean[],
  filling: 'concealed' | 'zeros',
): Int16Array {
  const heard = pcm.slice();
  const concealment = new LossConcealment();
  for (const [packet, isLost] of lost.entries()) {
    const frame = heard.subarray(packet * FRAME_SAMPLES, (packet + 1) * FRAME_SAMPLES);
    if (isLost && filling === 'zeros') frame.fill(0);
    else if (isLost) frame.set(concealment.conceal(frame.length));
    else if (filling === 'concealed') concealment.hear(frame);
  }
  return heard;
}
