/** Analytics of a period, in the time zone of the account, or of the browser where the account has none. */
import { useState } from 'preact/hooks';
import { Report, UtcReport } from '../analytics/report.tsx';
import type { Account, Analytics, AnalyticsDetails } from '../api-types.ts';
import { t, wrongFields } from '../app-state.ts';
import { timeZone as browserTimeZone, type DayRange, lastDays, queryOf } from '../format.ts';
import { ChoiceFilter, SelectField, TextField } from '../parts/field.tsx';
import { Empty, Page, Shown } from '../parts/page.tsx';
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
  const account = useApi<Account>('api/account');
  return (
    <Page title={t('nav.analytics')}>
      <Shown loaded={account}>
        {({ callingHours }) => <ZonedAnalytics accountTimeZone={callingHours?.timeZone} />}
      </Shown>
    </Page>
  );
}

function ZonedAnalytics({ accountTimeZone }: { readonly accountTimeZone: string | undefined }) {
  const timeZone = accountTimeZone ?? browserTimeZone;
  const [period, setPeriod] = useState('last_30_days');
  const [days, setDays] = useState<DayRange>(() => lastDays(30, Date.now()));
  const [agentId, setAgentId] = useState('');
  const agents = useAgents();
  const asked = { ...queryOf(period, days), agentId };
  const loaded = useApi<AnalyticsDetails>('api/analytics/details', { ...asked, timeZone });
  const byUtcDay = useApi<Analytics>('api/analytics', asked);
  const wrong = wrongFields(loaded.error);
  const day = (name: keyof DayRange) => ({
    value: days[name],
    onValue: (value: string) => setDays({ ...days, [name]: value }),
    error: wrong[name],
  });
  return (
    <>
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
        <ChoiceFilter
          label={t('field.agent')}
          value={agentId}
          onValue={setAgentId}
          options={agents.options}
        />
      </search>
      <p class="muted">
        {accountTimeZone === undefined
          ? t('analytics.timeZone', { timeZone })
          : t('analytics.accountTimeZone', { timeZone })}
      </p>
      <Shown loaded={loaded}>
        {(details) =>
          details.summary.totalCalls === 0 ? (
            <Empty text={t('analytics.noCalls')} />
          ) : (
            <>
              <Report details={details} agents={agents} />
              {byUtcDay.value !== undefined && <UtcReport report={byUtcDay.value} />}
            </>
          )
        }
      </Shown>
    </>
  );
}
