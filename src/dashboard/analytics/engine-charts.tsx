/** How long callers waited for each engine by day, all engines in one chart. */
import { useMemo } from 'preact/hooks';
import type { AnalyticsDetails } from '../api-types.ts';
import { formats, language, t } from '../app-state.ts';
import { Section, Table } from '../parts/page.tsx';
import { Chart, type ChartFacts } from './chart.tsx';

type Day = AnalyticsDetails['days'][number];

/** Engines with their names and colours, which are those of a call's turns. */
const ENGINES = [
  ['recognition', 'field.textFinal', '--recognition'],
  ['model', 'field.firstToken', '--model'],
  ['voice', 'field.firstAudio', '--voice'],
] as const;

/** Nothing where no engine had a turn. */
export function EngineCharts({ days }: { readonly days: readonly Day[] }) {
  const isThere = days.some(({ engineTimes }) =>
    ENGINES.some(([engine]) => engineTimes[engine] !== null),
  );
  if (!isThere) return null;
  return (
    <div class="section-pair">
      <EngineChart days={days} of="p50Ms" label={t('analytics.enginesMedian')} />
      <EngineChart days={days} of="p95Ms" label={t('analytics.enginesP95')} />
    </div>
  );
}

function EngineChart(props: {
  readonly days: readonly Day[];
  readonly of: 'p50Ms' | 'p95Ms';
  readonly label: string;
}) {
  const { days, of, label } = props;
  const { day, seconds } = formats.value;
  const facts = useMemo<ChartFacts>(
    () => ({
      kind: 'lines',
      categories: days.map(({ date }) => day(date)),
      series: ENGINES.map(([engine, name, color]) => ({
        name: t(name),
        color,
        values: days.map(({ engineTimes }) => engineTimes[engine]?.[of] ?? null),
      })),
      valueText: seconds,
    }),
    [days, of, language.value],
  );
  const cell = (engine: (typeof ENGINES)[number][0]) => (row: Day) => {
    const times = row.engineTimes[engine];
    return times === null ? '–' : seconds(times[of]);
  };
  return (
    <Section title={label}>
      <p class="muted">{t('analytics.enginesHint')}</p>
      <Chart label={label} facts={facts}>
        <Table
          label={label}
          rows={days.filter(({ answerTime }) => answerTime !== null)}
          columns={{
            day: ({ date }) => day(date),
            textFinal: ['number', cell('recognition')],
            firstToken: ['number', cell('model')],
            firstAudio: ['number', cell('voice')],
          }}
        />
      </Chart>
    </Section>
  );
}
