/** Calls and minutes by day, as bars and as a table. */
import { useState } from 'preact/hooks';
import { messagesByField } from '../api-error.ts';
import type { Analytics } from '../api-types.ts';
import { client, formats, t } from '../app-state.ts';
import { clockText, type DayRange, lastDays, queryOf } from '../format.ts';
import { DayBars } from '../parts/day-bars.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { FactList, Page, Section, Shown, Table } from '../parts/page.tsx';
import { useAgents, useLoad } from '../parts/use-load.ts';

const PERIODS = [
  'today',
  'yesterday',
  'last_7_days',
  'last_30_days',
  'last_90_days',
  'this_month',
  'last_month',
  'custom',
] as const;

export function AnalyticsPage() {
  const [period, setPeriod] = useState('last_30_days');
  const [days, setDays] = useState<DayRange>(() => lastDays(30, Date.now()));
  const [agentId, setAgentId] = useState('');
  const agents = useAgents();
  const query = queryOf(period, days);
  const loaded = useLoad(
    (signal) => client.api<Analytics>('api/analytics', { query: { ...query, agentId }, signal }),
    [agentId, ...Object.values(query)],
  );
  return (
    <Page title={t('analytics.title')}>
      <search class="filters">
        <SelectField
          label={t('analytics.period')}
          value={period}
          onValue={setPeriod}
          options={PERIODS.map((name) => [name, t(`period.${name}`)])}
        />
        {period === 'custom' ? <Days days={days} onDays={setDays} error={loaded.error} /> : null}
        <SelectField
          label={t('calls.agent')}
          value={agentId}
          onValue={setAgentId}
          options={[
            ['', t('calls.all')],
            ...agents.list.map(({ id, name }) => [id, name] as const),
          ]}
        />
      </search>
      <Shown loaded={loaded}>
        {(report) => (
          <>
            <Summary report={report} />
            <Section title={t('analytics.days')}>
              <DayBars days={report.dailyBreakdown} />
            </Section>
            <Intents intents={report.topIntents} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Days(props: {
  readonly days: DayRange;
  readonly onDays: (days: DayRange) => void;
  readonly error: unknown;
}) {
  const { days, onDays } = props;
  const wrong = messagesByField(props.error);
  return (
    <>
      <TextField
        label={t('calls.from')}
        type="date"
        value={days.startDate}
        onValue={(startDate) => onDays({ ...days, startDate })}
        error={wrong.startDate}
      />
      <TextField
        label={t('calls.to')}
        type="date"
        value={days.endDate}
        onValue={(endDate) => onDays({ ...days, endDate })}
        error={wrong.endDate}
      />
    </>
  );
}

function Summary({ report }: { readonly report: Analytics }) {
  const { summary, minutesUsed, minutesIncluded } = report;
  const { count, decimal, percent } = formats.value;
  const figures = [
    [t('analytics.calls'), count(summary.totalCalls)],
    [t('analytics.minutes'), decimal(summary.totalMinutes)],
    [t('analytics.inbound'), count(summary.inboundCalls)],
    [t('analytics.outbound'), count(summary.outboundCalls)],
    [t('analytics.completed'), count(summary.completedCalls)],
    [t('analytics.missed'), count(summary.missedCalls)],
    [t('analytics.duration'), clockText(summary.averageDurationSeconds)],
    [t('analytics.mood'), percent(summary.averageSentimentScore)],
    [t('analytics.month'), `${decimal(minutesUsed)} / ${decimal(minutesIncluded)}`],
  ] as const;
  return <FactList class="figures" facts={figures} />;
}

function Intents({ intents }: { readonly intents: Analytics['topIntents'] }) {
  const { count, percent } = formats.value;
  const heads = [t('analytics.intent'), t('analytics.calls'), t('analytics.share')];
  return (
    <Section title={t('analytics.intents')}>
      {intents.length === 0 ? (
        <p class="empty">{t('analytics.noIntents')}</p>
      ) : (
        <Table label={t('analytics.intents')} heads={heads}>
          {intents.map((one) => (
            <tr key={one.intent}>
              <td>{one.intent}</td>
              <td class="number">{count(one.count)}</td>
              <td class="number">{percent(one.percentage / 100)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
