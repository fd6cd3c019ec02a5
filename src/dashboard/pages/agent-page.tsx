/** The page of one agent: its settings and the test panel next to them; new, changed, tried, deleted. */

import { useEffect, useState } from 'preact/hooks';
import type { SeenAgent } from '../agent/agent-changes.ts';
import { AgentForm } from '../agent/agent-form.tsx';
import { Knowledge } from '../agent/knowledge.tsx';
import { TestPanel } from '../agent/test-panel.tsx';
import { loadSeen, useAgentForm } from '../agent/use-agent-form.ts';
import { Versions } from '../agent/versions.tsx';
import type { Agent } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { ResourcePage } from '../parts/resource-page.tsx';
import { ENGINE_JOBS, StandIns, useReadiness } from '../parts/stand-ins.tsx';
import { useLoad } from '../parts/use-load.ts';

export function AgentPage({ id }: { readonly id: string }) {
  const isNew = id === 'new';
  const path = `api/agents/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['agent', id],
    async (signal) => (isNew ? null : await seenBy(path, signal)),
    { isKept: false },
  );
  // The warning of stand-ins comes above the form: with it, and not later, so that nothing moves.
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
          <AgentPanes seen={seen ?? undefined} path={path} onChanged={loaded.reload} />
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

/** @param props.seen undefined where an agent is created, which has nothing to be tried yet. */
export function AgentPanes(props: {
  readonly seen: SeenAgent | undefined;
  readonly path: string;
  readonly onChanged: () => void;
}) {
  const { path, onChanged } = props;
  const [round, setRound] = useState(0);
  /** The restored version: the form starts from it until the page has loaded again. */
  const [restored, setRestored] = useState<Agent | undefined>(undefined);
  const [isChanged, setChanged] = useState(false);
  const seen = props.seen && newestOf(props.seen, restored);
  const agent = seen?.agent;
  // A viewer may try nothing.
  const isTried = seen !== undefined && may('editor');
  return (
    <div class={isTried ? 'panes' : 'panes panes-one'}>
      <div class="pane-main">
        <Settings
          key={restored?.updatedAt ?? ''}
          seen={seen}
          path={path}
          onChanged={setChanged}
          onSaved={() => {
            setRound((before) => before + 1);
            onChanged();
          }}
        />
        {agent !== undefined && <Knowledge agentId={agent.id} />}
        {agent !== undefined && (
          <Versions
            agent={agent}
            round={round}
            onRestored={(now) => {
              setRestored(now);
              onChanged();
            }}
          />
        )}
      </div>
      {isTried && <TestPanel seen={seen} isChanged={isChanged} />}
    </div>
  );
}

/** What was loaded, or the restored agent where that is newer. */
function newestOf(seen: SeenAgent, restored: Agent | undefined): SeenAgent {
  const isOlder = restored !== undefined && seen.agent.updatedAt < restored.updatedAt;
  return isOlder ? { ...seen, agent: restored } : seen;
}

function Settings(props: {
  readonly seen: SeenAgent | undefined;
  readonly path: string;
  readonly onChanged: (isChanged: boolean) => void;
  readonly onSaved: () => void;
}) {
  const form = useAgentForm(props);
  useEffect(() => props.onChanged(form.isChanged), [form.isChanged]);
  return <AgentForm agent={props.seen?.agent} form={form} />;
}
