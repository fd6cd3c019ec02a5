/** Opens the phone to an agent; what it is made of is loaded only now. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { AgentItem } from '../api-types.ts';
import { client, complain, environment, language, say, t } from '../app-state.ts';
import type { TalkDialogProps } from '../phone/talk-dialog-props.ts';
import { wordOf } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { SelectField } from './field.tsx';
import { Problem } from './page.tsx';
import { useSubmit } from './use-load.ts';

interface Callee {
  readonly id: string;
  readonly name: string;
}

export function TalkButton({ agent }: { readonly agent: Callee }) {
  const { talk, phone } = useTalk();
  return (
    <>
      <button type="button" onClick={() => talk(agent)}>
        {t('phone.talkToIt')}
      </button>
      {phone}
    </>
  );
}

/** One phone for several agents: `phone` is its window, to be put where no table or form is around it. */
export function useTalk(): {
  readonly talk: (agent: Callee) => void;
  readonly phone: ComponentChildren;
} {
  const [callee, setCallee] = useState<Callee | undefined>(undefined);
  const [Dialog, setDialog] = useState<ComponentType<TalkDialogProps> | undefined>(undefined);
  const talk = (agent: Callee) => {
    import('../phone/talk-dialog.tsx').then(
      ({ TalkDialog }) => {
        setDialog(() => TalkDialog);
        setCallee(agent);
      },
      () => complain(new Error(t('phone.notLoaded'))),
    );
  };
  const phone =
    Dialog === undefined || callee === undefined ? null : (
      <Dialog agentId={callee.id} agentName={callee.name} onClose={() => setCallee(undefined)} />
    );
  return { talk, phone };
}

/** Parties that ring in. */
const SCENARIOS = ['friendly', 'appointment', 'transfer', 'hangup', 'silent', 'no_answer', 'error'];

export function SimulateButton({ agents }: { readonly agents: readonly AgentItem[] }) {
  const [isOpen, setOpen] = useState(false);
  if (environment.value !== 'test' || agents.length === 0) return null;
  return (
    <>
      <button type="button" class="main" onClick={() => setOpen(true)}>
        {t('simulate.title')}
      </button>
      {isOpen ? <SimulateDialog agents={agents} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function SimulateDialog(props: {
  readonly agents: readonly AgentItem[];
  readonly onClose: () => void;
}) {
  const { agents, onClose } = props;
  const [agentId, setAgentId] = useState(agents[0]?.id ?? '');
  const [scenario, setScenario] = useState('friendly');
  const { isBusy, error, submit } = useSubmit(async () => {
    const body = { agentId, scenario };
    await client.api('api/sandbox/calls/inbound', { method: 'POST', body });
    say(t('simulate.begun'));
    onClose();
  });
  return (
    <Dialog title={t('simulate.title')} onClose={onClose}>
      <form onSubmit={submit}>
        <SelectField
          label={t('calls.agent')}
          value={agentId}
          onValue={setAgentId}
          options={agents.map(({ id, name }) => [id, name])}
        />
        <SelectField
          label={t('simulate.scenario')}
          value={scenario}
          onValue={setScenario}
          options={SCENARIOS.map((name) => [name, wordOf(language.value, 'scenario', name)])}
        />
        {error === undefined ? null : <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {t('app.cancel')}
          </button>
          <button type="submit" class="main" disabled={isBusy}>
            {t('simulate.call')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
