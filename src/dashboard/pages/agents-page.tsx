/** The agents: which there are, what they did today, and whether they take calls. */
import { Bot } from 'lucide';
import { useVoices } from '../agent/voice-picker.tsx';
import type { AgentItem, Voice } from '../api-types.ts';
import { client, complain, formats, may, t } from '../app-state.ts';
import { phoneText } from '../format.ts';
import { SimulateButton, useTalk } from '../parts/call-buttons.tsx';
import { Button, Empty, LinkButton, Page, ShownPage, State, Table } from '../parts/page.tsx';
import { ENGINE_JOBS, StandIns } from '../parts/stand-ins.tsx';
import { usePages } from '../parts/use-load.ts';

export function AgentsPage() {
  const loaded = usePages<AgentItem>('api/agents', 50);
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
      <ShownPage loaded={loaded}>
        {(agents) =>
          agents.length === 0 ? (
            <Empty icon={Bot} text={t('agents.none')}>
              <LinkButton needs="editor" isMain href="#/agents/new" text={t('agents.first')} />
            </Empty>
          ) : (
            <AgentTable agents={agents} onChanged={loaded.reload} />
          )
        }
      </ShownPage>
    </Page>
  );
}

function AgentTable(props: {
  readonly agents: readonly AgentItem[];
  readonly onChanged: () => void;
}) {
  const { talk, phone } = useTalk();
  const voices = useVoices();
  const { language, count, decimal } = formats.value;
  return (
    <>
      <Table
        label={t('nav.agents')}
        rows={props.agents}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `#/agents/${id}`}
        columns={{
          name: ({ name }) => name,
          status: ({ status }) => <State of={status} />,
          number: [
            'number',
            ({ phoneNumber }) => (phoneNumber === null ? '–' : phoneText(phoneNumber)),
          ],
          voice: ['cut cut-short', ({ voice }) => <Spoken id={voice} voices={voices} />],
          language: (agent) => language(agent.language),
          callsToday: ['number', ({ totalCallsToday }) => count(totalCallsToday)],
          minutesToday: ['number', ({ totalMinutesToday }) => decimal(totalMinutesToday)],
          actions:
            may('editor') &&
            ((agent) => (
              <div class="actions">
                <Button
                  text={t('phone.talk')}
                  aria-label={`${t('phone.talk')}: ${agent.name}`}
                  onClick={() => talk(agent)}
                />
                <PauseButton agent={agent} onChanged={props.onChanged} />
              </div>
            )),
        }}
      />
      {phone}
    </>
  );
}

/** The voice that is heard: the engine of a stand-in, with the voice that it stands in for on hover. */
function Spoken({ id, voices }: { readonly id: string; readonly voices: readonly Voice[] }) {
  const voice = voices.find((one) => one.id === id);
  if (voice === undefined) return <>{id}</>;
  const { name, engine, isFallback } = voice;
  if (!isFallback) return <>{name}</>;
  return <span title={`${name}: ${t('agent.fallback', { engine })}`}>{engine}</span>;
}

function PauseButton(props: { readonly agent: AgentItem; readonly onChanged: () => void }) {
  const { id, name, status } = props.agent;
  const isActive = status === 'active';
  const change = () => {
    const body = { status: isActive ? 'paused' : 'active' };
    client.api(`api/agents/${id}`, { method: 'PATCH', body }).then(props.onChanged, complain);
  };
  const text = t(isActive ? 'agents.pause' : 'agents.activate');
  return <Button text={text} aria-label={`${text}: ${name}`} onClick={change} />;
}
