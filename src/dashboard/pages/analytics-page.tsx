/** Calls and minutes by day, as bars and as a table. */
import { useState } from 'preact/hooks';
import { messagesByField } from '../api-error.ts';
import type { Analytics } from '../api-types.ts';
import { formats, t, word } from '../app-state.ts';
import { clockText, type DayRange, lastDays, queryOf } from '../format.ts';
import { DayBars } from '../parts/day-bars.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { FactList, Page, Section, Shown, Table } from '../parts/page.tsx';
import { useAgents, useApi } from '../parts/use-load.ts';

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
  const loaded = useApi<Analytics>('api/analytics', { ...queryOf(period, days), agentId });
  const wrong = messagesByField(loaded.error);
  const day = (name: keyof DayRange) => ({
    value: days[name],
    onValue: (value: string) => setDays({ ...days, [name]: value }),
    error: wrong[name],
  });
  return (
    <Page title={t('nav.analytics')}>
      <search class="filters">
        <SelectField
          label={t('analytics.period')}
          value={period}
          onValue={setPeriod}
          options={PERIODS.map((name) => [name, t(`period.${name}`)])}
        />
        {period === 'custom' && (
          <>
            <TextField label={t('calls.from')} type="date" {...day('startDate')} />
            <TextField label={t('calls.to')} type="date" {...day('endDate')} />
          </>
        )}
        <SelectField
          label={t('field.agent')}
          value={agentId}
          onValue={setAgentId}
          options={[['', t('calls.all')], ...agents.options]}
        />
      </search>
      <Shown loaded={loaded}>{(report) => <Report report={report} />}</Shown>
    </Page>
  );
}

function Report({ report }: { readonly report: Analytics }) {
  const { summary, minutesUsed, minutesIncluded, dailyBreakdown, topIntents } = report;
  const { count, decimal, percent } = formats.value;
  return (
    <>
      <FactList
        class="figures"
        facts={[
          [t('field.calls'), count(summary.totalCalls)],
          [t('field.minutes'), decimal(summary.totalMinutes)],
          [t('analytics.inbound'), count(summary.inboundCalls)],
          [t('analytics.outbound'), count(summary.outboundCalls)],
          [t('analytics.completed'), count(summary.completedCalls)],
          [t('analytics.missed'), count(summary.missedCalls)],
          [t('field.averageDuration'), clockText(summary.averageDurationSeconds)],
          [
            t('analytics.mood'),
            summary.totalCalls === 0 ? '–' : percent(summary.averageSentimentScore),
          ],
          [t('analytics.month'), `${decimal(minutesUsed)} / ${decimal(minutesIncluded)}`],
        ]}
      />
      <Section title={t('analytics.days')}>
        <DayBars days={dailyBreakdown} />
      </Section>
      <Section title={t('analytics.intents')}>
        <Table
          label={t('analytics.intents')}
          empty={t('analytics.noIntents')}
          rows={topIntents}
          columns={{
            intent: ({ intent }) => word('intent', intent),
            calls: ['number', (one) => count(one.count)],
            share: ['number', ({ percentage }) => percent(percentage / 100)],
          }}
        />
      </Section>
    </>
  );
}
