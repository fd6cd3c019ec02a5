/** The two panes of an agent's page: its settings, and trying it next to them. */
import { useEffect, useState } from 'preact/hooks';
import type { Agent } from '../api-types.ts';
import { may } from '../app-state.ts';
import { AgentForm } from './agent-form.tsx';
import { Knowledge } from './knowledge.tsx';
import type { SeenAgent } from './saved-draft.ts';
import { TestPanel } from './test-panel.tsx';
import { useAgentForm } from './use-agent-form.ts';
import { Versions } from './versions.tsx';

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
