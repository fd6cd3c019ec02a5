/** The telephone numbers: over which trunk each comes, and which agent answers it. */
import { useState } from 'preact/hooks';
import type { AgentItem, Paged, PhoneNumber } from '../api-types.ts';
import { accountId, client, complain, say, session, t } from '../app-state.ts';
import { Page, Pager, Shown, Table } from '../parts/page.tsx';
import { type Agents, useAgents, useLoad } from '../parts/use-load.ts';

const PER_PAGE = 100;

export function NumbersPage() {
  const agents = useAgents();
  const [offset, setOffset] = useState(0);
  const loaded = useLoad(
    (signal) => {
      const query = { limit: PER_PAGE, offset };
      return client.api<Paged<PhoneNumber>>('api/phone-numbers', { query, signal });
    },
    [offset],
  );
  return (
    <Page title={t('numbers.title')}>
      <Shown loaded={loaded}>
        {({ data, total }) => (
          <>
            <NumberTable
              numbers={data}
              agents={agents}
              onChanged={() => {
                loaded.reload();
                agents.reload();
              }}
            />
            {total > PER_PAGE ? (
              <Pager total={total} offset={offset} limit={PER_PAGE} onOffset={setOffset} />
            ) : null}
          </>
        )}
      </Shown>
    </Page>
  );
}

function NumberTable(props: {
  readonly numbers: readonly PhoneNumber[];
  readonly agents: Agents;
  readonly onChanged: () => void;
}) {
  if (props.numbers.length === 0) return <p class="empty">{t('numbers.none')}</p>;
  const accounts = session.value?.accounts ?? [];
  const hasOthers = accounts.length > 1;
  const heads = ['number', ...(hasOthers ? ['account' as const] : []), 'trunks', 'agent'] as const;
  return (
    <Table label={t('numbers.title')} heads={heads.map((head) => t(`numbers.${head}`))}>
      {props.numbers.map((one) => (
        <tr key={one.number}>
          <td class="number">{one.number}</td>
          {hasOthers ? (
            <td>{accounts.find(({ id }) => id === one.accountId)?.name ?? '–'}</td>
          ) : null}
          <td>{one.trunks.length === 0 ? '–' : one.trunks.join(', ')}</td>
          <td>
            {isOneNumber(one) && isOurs(one) ? (
              <Answerer number={one} {...props} />
            ) : (
              <span class="muted">{t(othersText(one))}</span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** A trunk may bring all numbers that begin alike: each is given to an agent by itself. */
function isOneNumber({ number }: PhoneNumber): boolean {
  return !number.endsWith('*');
}

/** Whether an agent of the account on this page may have it, or has it. */
function isOurs(number: PhoneNumber): boolean {
  if (number.agentId !== null) return true;
  return !number.isTaken && [null, accountId.value].includes(number.accountId);
}

function othersText(number: PhoneNumber) {
  if (!isOneNumber(number)) return 'numbers.range';
  return number.isTaken ? 'numbers.taken' : 'numbers.foreign';
}

/** The chosen agent answers from the next call on. */
function Answerer(props: {
  readonly number: PhoneNumber;
  readonly agents: Agents;
  readonly onChanged: () => void;
}) {
  const { number, agents, onChanged } = props;
  const [isBusy, setBusy] = useState(false);
  // Beyond a thousand agents the one that answers may not be among those that were loaded.
  const known =
    number.agentId === null || agents.list.some(({ id }) => id === number.agentId) ? null : (
      <option value={number.agentId}>{number.agentName}</option>
    );
  const choose = async (agentId: string) => {
    setBusy(true);
    try {
      await assign(number, agentId);
      say(t('numbers.assigned'));
    } catch (error) {
      complain(error);
    }
    setBusy(false);
    onChanged();
  };
  return (
    <select
      aria-label={t('numbers.answers', { number: number.number })}
      value={number.agentId ?? ''}
      disabled={isBusy}
      onChange={(event) => void choose(event.currentTarget.value)}
    >
      <option value="">{t('numbers.nobody')}</option>
      {known}
      {agents.list.map((agent) => (
        <option key={agent.id} value={agent.id}>
          {nameOf(agent, number)}
        </option>
      ))}
    </select>
  );
}

/** An agent has one number: the list shows its present one before it gets another. */
function nameOf({ name, phoneNumber }: AgentItem, { number }: PhoneNumber): string {
  return phoneNumber === null || phoneNumber === number ? name : `${name} (${phoneNumber})`;
}

/** Freed first: two agents cannot have one number. @throws {ApiError} */
async function assign({ number, agentId }: PhoneNumber, next: string): Promise<void> {
  const give = (id: string, phoneNumber: string) =>
    client.api(`api/agents/${id}`, { method: 'PATCH', body: { phoneNumber } });
  if (agentId !== null)
    await client.api(`api/agents/${agentId}/phone-number`, { method: 'DELETE' });
  if (next === '') return;
  try {
    await give(next, number);
  } catch (error) {
    // A number without anybody would lose calls.
    if (agentId !== null) await give(agentId, number);
    throw error;
  }
}
