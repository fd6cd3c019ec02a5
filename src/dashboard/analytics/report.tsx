/** The calls of a period: figures, charts, and tables of agents and intents. */
import { useMemo } from 'preact/hooks';
import type { Analytics, AnalyticsDetails } from '../api-types.ts';
import { formats, language, t, word } from '../app-state.ts';
import { FactList, Section, Table } from '../parts/page.tsx';
import type { Agents } from '../parts/use-load.ts';
import { type ChartFacts, ChartSection } from './chart.tsx';
import { Figures } from './figures.tsx';
import { type ShownAgent, shownAgents } from './report-sums.ts';

type Day = AnalyticsDetails['days'][number];

export function Report(props: { readonly details: AnalyticsDetails; readonly agents: Agents }) {
  const { details, agents } = props;
  return (
    <>
      <Figures details={details} />
      <DayChart days={details.days} />
      {details.summary.answerTime !== null && <AnswerChart days={details.days} />}
      <EngineCharts days={details.days} />
      <HourChart hours={details.hours} />
      <div class="section-pair">
        <EndReasons details={details} />
        <Totals details={details} />
      </div>
      <AgentTable rows={shownAgents(details)} agents={agents} />
    </>
  );
}

/** Series with their colours, and the field of a day that has their values. */
const DAY_SERIES = [
  ['completed', '--accent', 'completedCalls'],
  ['missed', '--control', 'missedCalls'],
  ['failed', '--bad', 'failedCalls'],
] as const;

function DayChart({ days }: { readonly days: readonly Day[] }) {
  const facts = useMemo<ChartFacts>(
    () => ({
      ...{ kind: 'bars', ...byDay(days), valueText: formats.value.count },
      series: DAY_SERIES.map(([field, color, name]) => {
        return { field, color, values: days.map((one) => one[name]) };
      }),
      counts: { calls: days.map(({ totalCalls }) => totalCalls) },
    }),
    [days, language.value],
  );
  return <ChartSection label={t('analytics.days')} facts={facts} />;
}

function byDay(days: readonly Day[]) {
  const categories = days.map(({ date }) => formats.value.day(date));
  return { by: 'day', categories } as const;
}

const ANSWER_SERIES = [
  ['p50', '--accent', 'p50Ms'],
  ['p95', '--bad', 'p95Ms'],
] as const;

function AnswerChart({ days }: { readonly days: readonly Day[] }) {
  const facts = useMemo<ChartFacts>(
    () => ({
      ...answerTimes(days),
      series: ANSWER_SERIES.map(([field, color, name]) => {
        return { field, color, values: days.map(({ answerTime }) => answerTime?.[name] ?? null) };
      }),
      counts: { answers: days.map(({ answerTime }) => answerTime?.turns ?? 0) },
    }),
    [days, language.value],
  );
  const [label, hint] = [t('analytics.answers'), t('analytics.answersHint')];
  return <ChartSection label={label} hint={hint} facts={facts} />;
}

/** Times by day; the table has the days that had an answer. */
function answerTimes(days: readonly Day[]) {
  const isListed = (place: number) => days[place]?.answerTime !== null;
  return { ...byDay(days), kind: 'lines', isListed, valueText: formats.value.seconds } as const;
}

function HourChart({ hours }: { readonly hours: readonly number[] }) {
  const facts = useMemo<ChartFacts>(
    () => ({
      ...{ kind: 'bars', by: 'hour', valueText: formats.value.count },
      categories: hours.map((_, hour) => `${String(hour).padStart(2, '0')}:00`),
      series: [{ field: 'calls', color: '--accent', values: hours }],
    }),
    [hours, language.value],
  );
  return <ChartSection label={t('analytics.hours')} facts={facts} />;
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
  ['recognition', 'textFinal', '--recognition'],
  ['model', 'firstToken', '--model'],
  ['voice', 'firstAudio', '--voice'],
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
  const facts = useMemo<ChartFacts>(
    () => ({
      ...answerTimes(days),
      series: ENGINES.map(([engine, field, color]) => {
        const values = days.map(({ engineTimes }) => engineTimes[engine]?.[of] ?? null);
        return { field, color, values };
      }),
    }),
    [days, of, language.value],
  );
  return <ChartSection label={label} hint={t('analytics.enginesHint')} facts={facts} />;
}
