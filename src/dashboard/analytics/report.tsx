/** The calls of a period: figures, charts, and tables of agents and intents. */
import { useMemo } from 'preact/hooks';
import type { Analytics, AnalyticsDetails } from '../api-types.ts';
import { formats, language, t, word } from '../app-state.ts';
import { FactList, Section, Table } from '../parts/page.tsx';
import type { Agents } from '../parts/use-load.ts';
import { Chart, type ChartFacts } from './chart.tsx';
import { Figures } from './figures.tsx';
import { type ShownAgent, shownAgents } from './report-sums.ts';

type Day = AnalyticsDetails['days'][number];

export function Report(props: { readonly details: AnalyticsDetails; readonly agents: Agents }) {
  const { details, agents } = props;
  return (
    <>
      <Figures details={details} />
      <Section title={t('analytics.days')}>
        <DayChart days={details.days} />
      </Section>
      {details.summary.answerTime !== null && (
        <Section title={t('analytics.answers')}>
          <AnswerChart days={details.days} />
        </Section>
      )}
      <EngineCharts days={details.days} />
      <Section title={t('analytics.hours')}>
        <HourChart hours={details.hours} />
      </Section>
      <div class="section-pair">
        <EndReasons details={details} />
        <Totals details={details} />
      </div>
      <AgentTable rows={shownAgents(details)} agents={agents} />
    </>
  );
}

/** Names of series, their colours, and the field of a day that has their values. */
const DAY_SERIES = [
  ['field.completed', '--accent', 'completedCalls'],
  ['field.missed', '--control', 'missedCalls'],
  ['field.failed', '--bad', 'failedCalls'],
] as const;

function DayChart({ days }: { readonly days: readonly Day[] }) {
  const { count, day } = formats.value;
  const facts = useMemo<ChartFacts>(
    () => ({
      kind: 'bars',
      categories: days.map(({ date }) => day(date)),
      series: DAY_SERIES.map(([name, color, field]) => ({
        ...{ name: t(name), color },
        values: days.map((one) => one[field]),
      })),
      valueText: count,
    }),
    [days, language.value],
  );
  return (
    <Chart label={t('analytics.days')} facts={facts}>
      <Table
        label={t('analytics.days')}
        rows={days}
        columns={{
          day: ({ date }) => day(date),
          calls: ['number', ({ totalCalls }) => count(totalCalls)],
          completed: ['number', ({ completedCalls }) => count(completedCalls)],
          missed: ['number', ({ missedCalls }) => count(missedCalls)],
          failed: ['number', ({ failedCalls }) => count(failedCalls)],
        }}
      />
    </Chart>
  );
}

const ANSWER_SERIES = [
  ['field.p50', '--accent', 'p50Ms'],
  ['field.p95', '--bad', 'p95Ms'],
] as const;

function AnswerChart({ days }: { readonly days: readonly Day[] }) {
  const { count, day, seconds } = formats.value;
  const facts = useMemo<ChartFacts>(
    () => ({
      kind: 'lines',
      categories: days.map(({ date }) => day(date)),
      series: ANSWER_SERIES.map(([name, color, field]) => ({
        ...{ name: t(name), color },
        values: days.map(({ answerTime }) => answerTime?.[field] ?? null),
      })),
      valueText: seconds,
    }),
    [days, language.value],
  );
  return (
    <>
      <p class="muted">{t('analytics.answersHint')}</p>
      <Chart label={t('analytics.answers')} facts={facts}>
        <Table
          label={t('analytics.answers')}
          rows={days.flatMap(({ date, answerTime }) =>
            answerTime === null ? [] : { date, ...answerTime },
          )}
          columns={{
            day: ({ date }) => day(date),
            answers: ['number', ({ turns }) => count(turns)],
            p50: ['number', ({ p50Ms }) => seconds(p50Ms)],
            p95: ['number', ({ p95Ms }) => seconds(p95Ms)],
          }}
        />
      </Chart>
    </>
  );
}

function HourChart({ hours }: { readonly hours: readonly number[] }) {
  const { count } = formats.value;
  const facts = useMemo<ChartFacts>(
    () => ({
      kind: 'bars',
      categories: hours.map((_, hour) => hourText(hour)),
      series: [{ name: t('field.calls'), color: '--accent', values: hours }],
      valueText: count,
    }),
    [hours, language.value],
  );
  return (
    <Chart label={t('analytics.hours')} facts={facts}>
      <Table
        label={t('analytics.hours')}
        rows={hours}
        columns={{
          hour: (_, hour) => hourText(hour),
          calls: ['number', (calls) => count(calls)],
        }}
      />
    </Chart>
  );
}

function hourText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

function EndReasons({ details: { endReasons } }: { readonly details: AnalyticsDetails }) {
  const { count, percent } = formats.value;
  const ended = endReasons.reduce((sum, one) => sum + one.count, 0);
  return (
    <Section title={t('analytics.endReasons')}>
      <Table
        label={t('analytics.endReasons')}
        empty={t('analytics.noneEnded')}
        rows={endReasons}
        columns={{
          end: ({ reason }) => word('end', reason),
          calls: ['number', (one) => count(one.count)],
          share: [
            'number',
            (one) => <Share of={one.count / ended} text={percent(one.count / ended)} />,
          ],
        }}
      />
    </Section>
  );
}

/** A share as a bar and as a number. */
function Share({ of, text }: { readonly of: number; readonly text: string }) {
  return (
    <span>
      <svg class="share" aria-hidden="true">
        <rect width={`${of * 100}%`} height="100%" rx="2" />
      </svg>
      {text}
    </span>
  );
}

function Totals({ details: { summary } }: { readonly details: AnalyticsDetails }) {
  const { count, decimal, percent } = formats.value;
  const analysed = summary.positiveCalls + summary.neutralCalls + summary.negativeCalls;
  const { successJudged, successMet } = summary;
  return (
    <Section title={t('analytics.totals')}>
      <FactList
        class="facts"
        facts={[
          [t('field.minutes'), decimal(summary.totalMinutes)],
          [t('analytics.inbound'), count(summary.inboundCalls)],
          [t('analytics.outbound'), count(summary.outboundCalls)],
          [t('field.missed'), count(summary.missedCalls)],
          [t('field.failed'), count(summary.failedCalls)],
          ...(successJudged === 0
            ? []
            : [[t('analytics.success'), percent(successMet / successJudged)] as const]),
          ...(analysed === 0
            ? []
            : [
                [t('analytics.positive'), percent(summary.positiveCalls / analysed)] as const,
                [t('analytics.negative'), percent(summary.negativeCalls / analysed)] as const,
              ]),
        ]}
      />
    </Section>
  );
}

/** The server's limit of named agents; the rest then includes agents that exist. */
const AGENTS_MAX = 50;

function AgentTable(props: { readonly rows: readonly ShownAgent[]; readonly agents: Agents }) {
  const { rows, agents } = props;
  const { count, percent } = formats.value;
  const rest = rows.length > AGENTS_MAX ? 'analytics.otherAgents' : 'analytics.deletedAgents';
  if (rows.length === 0) return null;
  return (
    <Section title={t('nav.agents')}>
      <Table
        label={t('nav.agents')}
        rows={rows}
        keyOf={({ agentId = '' }) => agentId}
        hrefOf={({ agentId }) => agentId && `#/agents/${agentId}`}
        columns={{
          agent: ({ agentId }) => (agentId === undefined ? t(rest) : agents.nameOf(agentId)),
          calls: ['number', ({ totalCalls }) => count(totalCalls)],
          completed: ['number', ({ completedCalls }) => count(completedCalls)],
          missed: ['number', ({ missedCalls }) => count(missedCalls)],
          failed: ['number', ({ failedCalls }) => count(failedCalls)],
          success: [
            'number',
            ({ successMet, successJudged }) =>
              successJudged === 0 ? '–' : percent(successMet / successJudged),
          ],
        }}
      />
    </Section>
  );
}

/** Callers' intents, and the minutes of the month: the server counts both by UTC days. */
export function UtcReport({ report }: { readonly report: Analytics }) {
  const { minutesUsed, minutesIncluded, topIntents } = report;
  const { count, decimal, percent } = formats.value;
  return (
    <Section title={t('analytics.intents')}>
      <Table
        label={t('analytics.intents')}
        empty={t('analytics.noIntents')}
        rows={topIntents}
        columns={{
          intent: ({ intent }) => word('intent', intent),
          calls: ['number', (one) => count(one.count)],
          share: [
            'number',
            ({ percentage }) => <Share of={percentage / 100} text={percent(percentage / 100)} />,
          ],
        }}
      />
      <p class="muted small">
        {t('analytics.month', { used: decimal(minutesUsed), included: decimal(minutesIncluded) })}
      </p>
    </Section>
  );
}

/** Engines with their names and colours, as in the turns of a call. */
const ENGINES = [
  ['recognition', 'field.textFinal', '--recognition'],
  ['model', 'field.firstToken', '--model'],
  ['voice', 'field.firstAudio', '--voice'],
] as const;

/** Charts of the engines' times by day; nothing where no engine had a turn. */
function EngineCharts({ days }: { readonly days: readonly Day[] }) {
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
