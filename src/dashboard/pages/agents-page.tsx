/** The agents: the list with their calls of today and whether they take calls, and the page of one, with its settings and the test panel. */
import { Bot } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { SeenAgent } from '../agent/agent-changes.ts';
import { AgentForm } from '../agent/agent-form.tsx';
import { Knowledge } from '../agent/knowledge.tsx';
import { TestPanel } from '../agent/test-panel.tsx';
import { loadSeen, useAgentForm } from '../agent/use-agent-form.ts';
import { Versions } from '../agent/versions.tsx';
import { useVoices } from '../agent/voice-picker.tsx';
import type { Agent, AgentItem } from '../api-types.ts';
import { client, complain, formats, may, refresh, t } from '../app-state.ts';
import { phoneText } from '../format.ts';
import { ResourcePage } from '../forms/resource-form.tsx';
import { SimulateButton, useTalk } from '../parts/call-buttons.tsx';
import { ENGINE_JOBS, StandIns, useReadiness } from '../parts/engines.tsx';
import { Button, Empty, LinkButton, Page, PagedTable, State } from '../parts/page.tsx';
import { useLoad, usePages } from '../parts/use-load.ts';

export function AgentsPage() {
  const loaded = usePages<AgentItem>('api/agents', 50);
  const { talk, phone } = useTalk();
  const { language, count, decimal } = formats.value;
  return (
    <Page
      title={t('nav.agents')}
      actions={
        <>
          <SimulateButton agents={loaded.value?.data ?? []} />
          <LinkButton needs="editor" isMain href="#/agents/new" text={t('agents.new')} />
        </>
      }
    >
      <StandIns jobs={ENGINE_JOBS} />
      <PagedTable
        label={t('nav.agents')}
        empty={
          <Empty icon={Bot} text={t('agents.none')}>
            <LinkButton needs="editor" isMain href="#/agents/new" text={t('agents.first')} />
          </Empty>
        }
        loaded={loaded}
        hrefOf={({ id }) => `#/agents/${id}`}
        columns={{
          name: ({ name }) => name,
          status: ({ status }) => <State of={status} />,
          number: ['number', ({ phoneNumber }) => (phoneNumber ? phoneText(phoneNumber) : '–')],
          voice: ['cut cut-short', ({ voice }) => <Spoken id={voice} />],
          language: (agent) => language(agent.language),
          callsToday: ['number', ({ totalCallsToday }) => count(totalCallsToday)],
          minutesToday: ['number', ({ totalMinutesToday }) => decimal(totalMinutesToday)],
          actions: may('editor') && ((agent) => <Actions agent={agent} onTalk={talk} />),
        }}
      />
      {phone}
    </Page>
  );
}

function Actions(props: {
  readonly agent: AgentItem;
  readonly onTalk: (agent: AgentItem) => void;
}) {
  const { agent, onTalk } = props;
  return (
    <div class="actions">
      <Button
        text={t('phone.talk')}
        aria-label={`${t('phone.talk')}: ${agent.name}`}
        onClick={() => onTalk(agent)}
      />
      <PauseButton agent={agent} />
    </div>
  );
}

/** The voice that is heard: the engine of a stand-in, with the voice that it stands in for on hover. */
function Spoken({ id }: { readonly id: string }) {
  const voice = useVoices().find((one) => one.id === id);
  if (voice === undefined) return <>{id}</>;
  const { name, engine, isFallback } = voice;
  if (!isFallback) return <>{name}</>;
  return <span title={`${name}: ${t('agent.fallback', { engine })}`}>{engine}</span>;
}

function PauseButton({ agent: { id, name, status } }: { readonly agent: AgentItem }) {
  const isActive = status === 'active';
  const change = () => {
    const body = { status: isActive ? 'paused' : 'active' };
    client.api(`api/agents/${id}`, { method: 'PATCH', body }).then(refresh, complain);
  };
  const text = t(isActive ? 'agents.pause' : 'agents.activate');
  return <Button text={text} aria-label={`${text}: ${name}`} onClick={change} />;
}

export function AgentPage({ id }: { readonly id: string }) {
  const isNew = id === 'new';
  const path = `api/agents/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['agent', id],
    async (signal) => (isNew ? null : await seenBy(path, signal)),
    { isKept: false },
  );
  // The warning of stand-ins is above the form: both appear together, so that the form does not move.
  const readiness = useReadiness();
  const isWarned = readiness.value !== undefined || readiness.error !== undefined;
  const shown = isWarned ? loaded : { ...loaded, value: undefined };
  return (
    <ResourcePage
      kind="agent"
      title={isNew ? t('agents.new') : (loaded.value?.agent.name ?? t('field.agent'))}
      path={path}
      loaded={shown}
    >
      {(seen) => (
        <>
          <StandIns jobs={ENGINE_JOBS} />
          <AgentPanes seen={seen ?? undefined} path={path} />
        </>
      )}
    </ResourcePage>
  );
}

/** Drafts are for people who can change the agent; others see it as callers hear it. */
async function seenBy(path: string, signal: AbortSignal): Promise<SeenAgent> {
  if (may('editor')) return await loadSeen(path, signal);
  return { agent: await client.api<Agent>(path, { signal }), draft: undefined };
}

/** @param props.seen undefined for a new agent, which cannot be tried yet. */
export function AgentPanes(props: { readonly seen: SeenAgent | undefined; readonly path: string }) {
  const { path } = props;
  /** The restored version: the form starts from it until the page has loaded again. */
  const [restored, setRestored] = useState<Agent | undefined>(undefined);
  const [isChanged, setChanged] = useState(false);
  const seen = props.seen && newestOf(props.seen, restored);
  const agent = seen?.agent;
  // Viewers may not try an agent.
  const isTried = seen !== undefined && may('editor');
  return (
    <div class={isTried ? 'panes' : 'panes panes-one'}>
      <div class="pane-main">
        <Settings key={restored?.updatedAt ?? ''} seen={seen} path={path} onChanged={setChanged} />
        {agent !== undefined && <Knowledge agentId={agent.id} />}
        {agent !== undefined && <Versions agent={agent} onRestored={setRestored} />}
      </div>
      {isTried && <TestPanel seen={seen} isChanged={isChanged} />}
    </div>
  );
}

/** The loaded agent, or the restored one where that is newer. */
function newestOf(seen: SeenAgent, restored: Agent | undefined): SeenAgent {
  const isOlder = restored !== undefined && seen.agent.updatedAt < restored.updatedAt;
  return isOlder ? { ...seen, agent: restored } : seen;
}

function Settings(props: {
  readonly seen: SeenAgent | undefined;
  readonly path: string;
  readonly onChanged: (isChanged: boolean) => void;
}) {
  const form = useAgentForm(props);
  useEffect(() => props.onChanged(form.isChanged), [form.isChanged]);
  return <AgentForm agent={props.seen?.agent} form={form} />;
}
