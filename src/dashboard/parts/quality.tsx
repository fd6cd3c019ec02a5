/** How well a call could be heard, both ways. */
import { client, formats, t } from '../app-state.ts';
import type { CallQuality } from '../call-types.ts';
import { FactList } from './fact-list.tsx';
import { Section, Shown } from './page.tsx';
import { useLoad } from './use-load.ts';

/** @param props.status of the call: each change has brought figures. */
export function Quality({ callId, status }: { readonly callId: string; readonly status: string }) {
  const loaded = useLoad(
    (signal) => client.api<CallQuality>(`api/calls/${callId}/quality`, { signal }),
    [callId, status],
  );
  return (
    <Section title={t('quality.title')}>
      <Shown loaded={loaded}>{(quality) => <Figures quality={quality} />}</Shown>
    </Section>
  );
}

function Figures({ quality: { codec, local, remote, mos } }: { readonly quality: CallQuality }) {
  if (local === null && remote === null && mos === null) {
    return <p class="empty">{t('quality.none')}</p>;
  }
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
