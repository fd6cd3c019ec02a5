/** Calls as a table: each row leads to its call. */
import { PhoneIncoming, PhoneOutgoing } from 'lucide';
import type { CallItem } from '../api-types.ts';
import { t, word } from '../app-state.ts';
import { clockText, phoneText } from '../format.ts';
import { Icon } from '../frame/icon.tsx';
import { Ago, State, Table } from './page.tsx';
import type { Agents } from './use-load.ts';

export function CallTable(props: { readonly calls: readonly CallItem[]; readonly agents: Agents }) {
  return (
    <Table
      label={t('field.calls')}
      rows={props.calls}
      hrefOf={({ id }) => `#/calls/${id}`}
      columns={{
        begun: ({ startedAt }) =>
          startedAt === null ? t('calls.waiting') : <Ago at={startedAt} />,
        direction: ({ direction }) => (
          <span class="direction">
            <Icon of={direction === 'inbound' ? PhoneIncoming : PhoneOutgoing} />
            {word('direction', direction)}
          </span>
        ),
        from: ['number', ({ from }) => phoneText(from)],
        to: ['number', ({ to }) => phoneText(to)],
        agent: ['cut', ({ agentId }) => props.agents.nameOf(agentId)],
        status: ({ status }) => <State of={status} />,
        duration: ['number figure', ({ durationSeconds }) => clockText(durationSeconds)],
        end: ({ endReason }) => endReason && word('end', endReason),
        mood: ({ sentiment }) => sentiment && word('mood', sentiment),
      }}
    />
  );
}
