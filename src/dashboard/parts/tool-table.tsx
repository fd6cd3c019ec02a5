/** What the agent did besides talking. */
import type { TimelineEntry } from '../api-types.ts';
import { formats, language, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { wordOf } from '../text/text.ts';
import { Section, Table } from './page.tsx';

export function ToolTable(props: {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}) {
  const runs = props.entries.filter(({ kind }) => kind === 'tool');
  const heads = [t('timeline.at'), t('tools.name'), t('tools.outcome'), t('tools.took')];
  return (
    <Section title={t('tools.title')}>
      {runs.length === 0 ? (
        <p class="empty">{t('tools.none')}</p>
      ) : (
        <Table label={t('tools.title')} heads={heads}>
          {runs.map(({ timestamp, details }, index) => (
            <tr key={`${timestamp} ${index}`}>
              <td class="number">{clockText((Date.parse(timestamp) - props.originMs) / 1000)}</td>
              <td>{wordOf(language.value, 'tool', String(details.name))}</td>
              <td>{wordOf(language.value, 'outcome', String(details.outcome))}</td>
              <td class="number">{formats.value.count(Math.round(Number(details.tookMs)))} ms</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
