/** In the test environment: lets a simulated caller ring an agent. */
import { useState } from 'preact/hooks';
import type { AgentItem } from '../api-types.ts';
import { client, environment, language, say, t } from '../app-state.ts';
import { wordOf } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { SelectField } from './field.tsx';
import { Problem } from './page.tsx';
import { useSubmit } from './use-submit.ts';

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
