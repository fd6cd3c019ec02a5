/** What happened on a call, step by step, as the server wrote it down. */
import type { TimelineEntry } from '../api-types.ts';
import { t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { Instant, Section, Table } from './page.tsx';

export function Timeline(props: {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}) {
  const { entries, originMs } = props;
  const heads = [
    t('timeline.at'),
    t('timeline.instant'),
    t('timeline.kind'),
    t('timeline.details'),
  ];
  return (
    <Section title={t('timeline.title')}>
      {entries.length === 0 ? (
        <p class="empty">{t('timeline.none')}</p>
      ) : (
        <Table label={t('timeline.title')} heads={heads}>
          {entries.map(({ timestamp, kind, details }, index) => (
            <tr key={`${timestamp} ${kind} ${index}`}>
              <td class="number">{clockText((Date.parse(timestamp) - originMs) / 1000)}</td>
              <td>
                <Instant at={timestamp} />
              </td>
              <td>{kind}</td>
              <td class="small">
                {Object.entries(details)
                  .map(([name, value]) => `${name} ${plain(value)}`)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
