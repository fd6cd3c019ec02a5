/** The agents: which there are, what they did today, and whether they take calls. */
import { useState } from 'preact/hooks';
import type { AgentItem, Paged } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { Page, Pager, Shown, State, Table } from '../parts/page.tsx';
import { SimulateButton, useTalk } from '../parts/talk-button.tsx';
import { useLoad } from '../parts/use-load.ts';

const PER_PAGE = 50;

export function AgentsPage() {
  const [offset, setOffset] = useState(0);
  const loaded = useLoad(
    (signal) =>
      client.api<Paged<AgentItem>>('api/agents', { query: { limit: PER_PAGE, offset }, signal }),
    [offset],
  );
  return (
    <Page
      title={t('agents.title')}
      actions={
        <>
          <SimulateButton agents={loaded.value?.data ?? []} />
          <a class="button main" href="#/agents/new">
            {t('agents.new')}
          </a>
        </>
      }
    >
      <Shown loaded={loaded}>
        {({ data, total }) => (
          <>
            <AgentTable agents={data} onChanged={loaded.reload} />
            {total > PER_PAGE ? (
              <Pager total={total} offset={offset} limit={PER_PAGE} onOffset={setOffset} />
            ) : null}
          </>
        )}
      </Shown>
    </Page>
  );
}

function AgentTable(props: {
  readonly agents: readonly AgentItem[];
  readonly onChanged: () => void;
}) {
  const { talk, phone } = useTalk();
  if (props.agents.length === 0) return <p class="empty">{t('agents.none')}</p>;
  const heads = [
    'name',
    'status',
    'phoneNumber',
    'voice',
    'language',
    'calls',
    'minutes',
    'actions',
  ] as const;
  return (
    <>
      <Table label={t('agents.title')} heads={heads.map((head) => t(`agents.${head}`))}>
        {props.agents.map((agent) => (
          <tr key={agent.id}>
            <td>
              <a href={`#/agents/${agent.id}`}>{agent.name}</a>
            </td>
            <td>
              <State of={agent.status} />
            </td>
            <td class="number">{agent.phoneNumber ?? '–'}</td>
            <td>{agent.voice}</td>
            <td>{formats.value.language(agent.language)}</td>
            <td class="number">{formats.value.count(agent.totalCallsToday)}</td>
            <td class="number">{formats.value.decimal(agent.totalMinutesToday)}</td>
            <td>
              <div class="actions">
                <button
                  type="button"
                  aria-label={`${t('phone.talk')}: ${agent.name}`}
                  onClick={() => talk(agent)}
                >
                  {t('phone.talk')}
                </button>
                <PauseButton agent={agent} onChanged={props.onChanged} />
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {phone}
    </>
  );
}

function PauseButton(props: { readonly agent: AgentItem; readonly onChanged: () => void }) {
  const { id, name, status } = props.agent;
  const isActive = status === 'active';
  const change = () => {
    const body = { status: isActive ? 'paused' : 'active' };
    client.api(`api/agents/${id}`, { method: 'PATCH', body }).then(props.onChanged).catch(complain);
  };
  const text = t(isActive ? 'agents.pause' : 'agents.activate');
  return (
    <button type="button" aria-label={`${text}: ${name}`} onClick={change}>
      {text}
    </button>
  );
}
