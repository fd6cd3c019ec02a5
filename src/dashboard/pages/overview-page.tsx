/** The first page: remaining steps of the setup, figures of today, and problems. */
import { CircleCheck, CircleDashed, TriangleAlert } from 'lucide';
import { useState } from 'preact/hooks';
import type {
  AgentItem,
  AnalyticsDetails,
  CallItem,
  Delivery,
  Endpoint,
  Paged,
  Readiness,
  Trunk,
} from '../api-types.ts';
import { client, formats, may, sentence, t, word } from '../app-state.ts';
import { problemsOf, type Step, stepsOf } from '../first-steps.ts';
import { lastDays } from '../format.ts';
import { Icon } from '../frame/icon.tsx';
import { BROWSER, keep, kept } from '../kept.ts';
import { PlaceCallButton, useTalk } from '../parts/call-buttons.tsx';
import { CallTable } from '../parts/call-table.tsx';
import { ENGINE_JOBS, StandIns } from '../parts/engines.tsx';
import { Button, FactList, LinkButton, Page, Section, Shown } from '../parts/page.tsx';
import { useAgents, useLoad } from '../parts/use-load.ts';

const REFRESH_MS = 10_000;

const NEWEST_CALLS = 5;

const HIDDEN = 'firstSteps';

/** Today in UTC, since the list of calls has days of UTC. */
const TODAY = { period: 'today', timeZone: 'UTC' } as const;

interface Facts {
  readonly readiness: Readiness;
  readonly agents: readonly AgentItem[];
  readonly trunks: readonly Trunk[];
  readonly endpointCount: number;
  readonly failedDeliveryCount: number;
  readonly calls: Paged<CallItem>;
  readonly goingCount: number;
  readonly failedTodayCount: number;
  readonly today: AnalyticsDetails;
}

export function OverviewPage() {
  const loaded = useLoad(['overview'], loadFacts, { refreshMs: REFRESH_MS });
  return (
    <Page title={t('nav.overview')} actions={<PlaceCallButton />}>
      <StandIns jobs={ENGINE_JOBS} />
      <Shown loaded={loaded}>
        {(facts) => (
          <>
            <FirstSteps facts={facts} />
            <Attention facts={facts} />
            {facts.calls.total > 0 && <Today facts={facts} />}
          </>
        )}
      </Shown>
    </Page>
  );
}

async function loadFacts(signal: AbortSignal): Promise<Facts> {
  const page = <Item,>(path: string, query = {}) =>
    client.api<Paged<Item>>(path, { query: { limit: 1, ...query }, signal });
  const [readiness, agents, trunks, endpoints, deliveries, calls, going, failed, today] =
    await Promise.all([
      client.api<Readiness>('readyz', { signal, alsoGood: 503 }),
      page<AgentItem>('api/agents', { limit: 100 }),
      client.api<{ readonly data: readonly Trunk[] }>('api/trunks', { signal }),
      page<Endpoint>('api/webhooks/endpoints'),
      page<Delivery>('api/webhooks/deliveries', { status: 'failed' }),
      page<CallItem>('api/calls', { limit: NEWEST_CALLS }),
      page<CallItem>('api/calls', { status: 'in_progress' }),
      page<CallItem>('api/calls', { status: 'failed', startDate: todayDate() }),
      client.api<AnalyticsDetails>('api/analytics/details', { query: TODAY, signal }),
    ]);
  return {
    readiness,
    agents: agents.data,
    trunks: trunks.data,
    endpointCount: endpoints.total,
    failedDeliveryCount: deliveries.total,
    calls,
    goingCount: going.total,
    failedTodayCount: failed.total,
    today,
  };
}

function todayDate(): string {
  return lastDays(1, Date.now()).startDate;
}

/** Gone when every step is done, or the reader has put it away. */
function FirstSteps({ facts }: { readonly facts: Facts }) {
  const [isHidden, setHidden] = useState(() => kept(BROWSER, HIDDEN) !== undefined);
  const { talk, phone } = useTalk();
  const steps = stepsOf({
    engines: facts.readiness.engines,
    agents: facts.agents,
    callCount: facts.calls.total,
    trunkCount: facts.trunks.length,
    endpointCount: facts.endpointCount,
  });
  const doneCount = steps.filter(({ isDone }) => isDone).length;
  if (isHidden || doneCount === steps.length || !may('editor')) return null;
  const hide = () => {
    keep(BROWSER, HIDDEN, 'hidden');
    setHidden(true);
  };
  const [agent] = facts.agents;
  return (
    <Section
      title={t('steps.title')}
      actions={
        <>
          <span class="muted">{t('steps.done', { done: doneCount, all: steps.length })}</span>
          <Button class="quiet" text={t('steps.hide')} onClick={hide} />
        </>
      }
    >
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name} class={step.isDone ? 'step step-done' : 'step'}>
            <Icon of={step.isDone ? CircleCheck : CircleDashed} />
            <div>
              <h3>
                {t(`steps.${step.name}`)}
                {step.isDone && <span class="unseen"> ({t('steps.isDone')})</span>}
              </h3>
              <p class="muted">
                {step.name === 'models'
                  ? enginesText(facts.readiness)
                  : t(`steps.${step.name}Text`)}
              </p>
            </div>
            <StepButton step={step} onTalk={() => agent && talk(agent)} />
          </li>
        ))}
      </ol>
      {phone}
    </Section>
  );
}

function StepButton({ step, onTalk }: { readonly step: Step; readonly onTalk: () => void }) {
  if (step.isDone) return null;
  const text = t(`steps.${step.name}Button`);
  if (step.address === undefined) return <Button class="main" text={text} onClick={onTalk} />;
  return <LinkButton href={step.address} text={text} />;
}

/** Which engine does which job now. */
function enginesText({ engines }: Readiness): string {
  const names = engines.map(({ job, engine }) => `${word('job', job)}: ${engine}`);
  return `${t('steps.modelsText')} ${names.join(' · ')}`;
}

/** Degraded parts with the reasons; a line that all is well where nothing is, stand-ins included. */
function Attention({ facts }: { readonly facts: Facts }) {
  const problems = problemsOf(facts.readiness);
  const { failedDeliveryCount } = facts;
  const { count } = formats.value;
  if (problems.length === 0 && failedDeliveryCount === 0) {
    if (facts.readiness.engines.some(({ standIn }) => standIn !== null)) return null;
    return (
      <p class="live-line">
        <span class="dot good" aria-hidden="true" />
        {t('overview.well')}
      </p>
    );
  }
  return (
    <Section title={t('overview.attention')}>
      <ul class="problems">
        {problems.map(({ name, state }) => (
          <li key={name}>
            <Icon of={TriangleAlert} />
            <span>
              <strong>{sentence(name)}</strong>: {sentence(state)}
            </span>
            <a href="#/system">{t('nav.system')}</a>
          </li>
        ))}
        {failedDeliveryCount > 0 && (
          <li>
            <Icon of={TriangleAlert} />
            <span>{t('overview.failedDeliveries', { count: count(failedDeliveryCount) })}</span>
            <a href="#/webhooks">{t('nav.webhooks')}</a>
          </li>
        )}
      </ul>
    </Section>
  );
}

function Today({ facts }: { readonly facts: Facts }) {
  const agents = useAgents();
  const { summary } = facts.today;
  const { count, seconds } = formats.value;
  const { answerTime } = summary;
  const answer = (ms: number | undefined) => (ms === undefined ? '–' : seconds(ms));
  const failedAddress = `#/calls?status=failed&startDate=${todayDate()}`;
  return (
    <>
      <FactList
        class="figures"
        facts={[
          [t('overview.callsToday'), count(summary.totalCalls)],
          [t('field.callsNow'), <a href="#/live">{count(facts.goingCount)}</a>],
          [t('overview.failed'), <a href={failedAddress}>{count(facts.failedTodayCount)}</a>],
          [t('field.missed'), count(summary.missedCalls)],
          [t('overview.answerMedian'), answer(answerTime?.p50Ms)],
          [t('overview.answerP95'), answer(answerTime?.p95Ms)],
          [t('overview.lines'), linesText(facts.trunks)],
          [t('overview.disk'), checkState(facts.readiness, 'disk space')],
        ]}
      />
      <Section title={t('overview.newest')} actions={<a href="#/calls">{t('call.back')}</a>}>
        <CallTable calls={facts.calls.data} agents={agents} />
      </Section>
    </>
  );
}

/** Lines in use, with the limit of the trunks if all of them have one. */
function linesText(trunks: readonly Trunk[]): string {
  const { count } = formats.value;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const used = count(sum(trunks.map(({ callsInProgress }) => callsInProgress)));
  const limits = trunks.flatMap(({ maxCalls }) => maxCalls ?? []);
  const isLimited = trunks.length > 0 && limits.length === trunks.length;
  return isLimited ? `${used} / ${count(sum(limits))}` : used;
}

function checkState({ checks }: Readiness, name: string): string {
  return sentence(checks.find((check) => check.name === name)?.state ?? '–');
}
