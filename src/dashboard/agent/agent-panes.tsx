/** The two panes of an agent's page: its settings, and trying it next to them. */
import { useEffect, useState } from 'preact/hooks';
import type { Agent } from '../api-types.ts';
import { may } from '../app-state.ts';
import { AgentForm } from './agent-form.tsx';
import { Knowledge } from './knowledge.tsx';
import { TestPanel } from './test-panel.tsx';
import { useAgentForm } from './use-agent-form.ts';
import { Versions } from './versions.tsx';

/** @param props.agent undefined where one is created, which has nothing to be tried yet. */
export function AgentPanes(props: {
  readonly agent: Agent | undefined;
  readonly path: string;
  readonly onChanged: () => void;
}) {
  const { agent, path, onChanged } = props;
  const [round, setRound] = useState(0);
  /** The restored version: the form starts from it. */
  const [restored, setRestored] = useState<Agent | undefined>(undefined);
  const [isChanged, setChanged] = useState(false);
  // A viewer may try nothing.
  const isTried = agent !== undefined && may('editor');
  return (
    <div class={isTried ? 'panes' : 'panes panes-one'}>
      <div class="pane-main">
        <Settings
          key={restored?.updatedAt ?? ''}
          agent={agent}
          seen={restored ?? agent}
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
      {isTried && <TestPanel agent={agent} isChanged={isChanged} />}
    </div>
  );
}

function Settings(props: {
  readonly agent: Agent | undefined;
  readonly seen: Agent | undefined;
  readonly path: string;
  readonly onChanged: (isChanged: boolean) => void;
  readonly onSaved: () => void;
}) {
  const form = useAgentForm(props);
  useEffect(() => props.onChanged(form.isChanged), [form.isChanged]);
  return <AgentForm agent={props.seen} form={form} />;
}
