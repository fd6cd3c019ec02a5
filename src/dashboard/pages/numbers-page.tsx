/** The telephone numbers: over which trunk each comes, and which agent answers it. */
import { useState } from 'preact/hooks';
import type { PhoneNumber } from '../api-types.ts';
import { accountId, complain, may, refresh, say, session, t } from '../app-state.ts';
import { BareSelect, type Option } from '../parts/field.tsx';
import { Empty, LinkButton, Page, PagedTable } from '../parts/page.tsx';
import { type Agents, useAgents, usePages } from '../parts/use-load.ts';
import { answererName, giveNumber } from '../trunks/save-trunk.ts';

export function NumbersPage() {
  const agents = useAgents();
  const loaded = usePages<PhoneNumber>('api/phone-numbers', 100);
  const accounts = session.value?.accounts ?? [];
  return (
    <Page title={t('numbers.title')}>
      <PagedTable
        label={t('numbers.title')}
        empty={
          <Empty text={t('numbers.none')}>
            <LinkButton href="#/trunks" text={t('steps.numberButton')} />
          </Empty>
        }
        loaded={loaded}
        keyOf={({ number }) => number}
        columns={{
          number: ['number', ({ number }) => number],
          account:
            accounts.length > 1 &&
            ((one) => accounts.find(({ id }) => id === one.accountId)?.name ?? '–'),
          over: ({ trunks }) => trunks.join(', ') || '–',
          answeredBy: (one) =>
            isOneNumber(one) && isOurs(one) ? (
              <Answerer number={one} agents={agents} />
            ) : (
              <span class="muted">{t(othersText(one))}</span>
            ),
        }}
      />
    </Page>
  );
}

/** Whether it is a single number. A trunk may have a range, with a star; its numbers are given to agents one by one. */
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
function Answerer(props: { readonly number: PhoneNumber; readonly agents: Agents }) {
  const { number, agents } = props;
  const [isBusy, setBusy] = useState(false);
  const { agentId, agentName } = number;
  // Only a thousand agents are loaded: the one that answers may not be among them.
  const isKnown = agentId === null || agents.list.some(({ id }) => id === agentId);
  const known: readonly Option[] = isKnown ? [] : [[agentId, agentName ?? agentId]];
  const choose = (next: string) => {
    setBusy(true);
    giveNumber(number, next)
      .then(() => say(t('numbers.assigned')), complain)
      .finally(() => {
        setBusy(false);
        refresh();
      });
  };
  return (
    <BareSelect
      label={t('numbers.answers', { number: number.number })}
      value={agentId ?? ''}
      disabled={isBusy || !may('editor')}
      onValue={choose}
      options={[
        ['', t('numbers.unassigned')],
        ...known,
        ...agents.list.map((agent) => [agent.id, answererName(agent, number.number)] as const),
      ]}
    />
  );
}
