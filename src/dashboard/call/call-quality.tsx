/** How a call sounded: what was lost, late or uneven on both ways. */
import type { CallQuality } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { FactList } from '../parts/page.tsx';

/** Whether anything was measured. */
export function isMeasured({ local, remote, mos }: CallQuality): boolean {
  return local !== null || remote !== null || mos !== null;
}

export function QualityFigures({ quality }: { readonly quality: CallQuality }) {
  const { codec, local, remote, mos } = quality;
  const { count, decimal } = formats.value;
  const figure = (value: number | null | undefined, unit = '') =>
    value === null || value === undefined ? '–' : `${decimal(value)}${unit}`;
  const figures = [
    [t('quality.mos'), mos === null ? '–' : `${decimal(mos)} (${t(`quality.${wordOfMos(mos)}`)})`],
    [t('quality.codec'), codec ?? '–'],
    [t('quality.received'), local === null ? '–' : count(local.packetsReceived)],
    [t('quality.lost'), figure(local?.packetsLost)],
    [t('quality.late'), figure(local?.packetsLate)],
    [t('quality.loss'), figure(local?.lossPercent, ' %')],
    [t('quality.jitter'), figure(local?.jitterMs, ' ms')],
    [t('quality.sent'), local === null ? '–' : count(local.packetsSent)],
    [t('quality.unsent'), figure(local?.packetsUnsent)],
    [t('quality.farLoss'), figure(remote?.lossPercent, ' %')],
    [t('quality.farJitter'), figure(remote?.jitterMs, ' ms')],
    [t('quality.roundTrip'), figure(remote?.roundTripMs, ' ms')],
  ] as const;
  return <FactList class="facts" facts={figures} />;
}

/** Users satisfied, some dissatisfied, many dissatisfied. @see ITU-T G.107, Annex B */
function wordOfMos(mos: number): 'good' | 'fair' | 'poor' {
  if (mos >= 4.03) return 'good';
  return mos >= 3.6 ? 'fair' : 'poor';
}
