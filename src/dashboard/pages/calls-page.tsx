/** Every call: filtered, page by page, and as a file for spreadsheets. */
import { useState } from 'preact/hooks';
import type { CallItem, Paged } from '../api-types.ts';
import { client, complain, formats, route, t, word } from '../app-state.ts';
import { csvOf } from '../csv.ts';
import {
  addressOf,
  CALLS_PER_PAGE,
  type CallFilter,
  clockText,
  type FilterField,
  filterOf,
} from '../format.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import { Button, Page, Pager, Shown, State, Table } from '../parts/page.tsx';
import { type Agents, useAgents, useApi } from '../parts/use-load.ts';

const EXPORTED_MAX = 100_000;

export function CallsPage() {
  const filter = filterOf(route.value.query);
  const { fields, offset } = filter;
  const agents = useAgents();
  const query = { ...fields, limit: CALLS_PER_PAGE, offset };
  const calls = useApi<Paged<CallItem>>('api/calls', query);
  return (
    <Page title={t('field.calls')} actions={<ExportButton filter={filter} agents={agents} />}>
      <Filters filter={filter} agents={agents} />
      <Shown loaded={calls}>
        {({ data, total }) => (
          <>
            <CallTable calls={data} agents={agents} />
            <Pager
              {...{ total, offset, limit: CALLS_PER_PAGE }}
              onOffset={(next) => location.assign(addressOf({ fields, offset: next }))}
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

interface ListProps {
  readonly filter: CallFilter;
  readonly agents: Agents;
}

function Filters({ filter: { fields }, agents }: ListProps) {
  const field = (name: FilterField) => ({
    value: fields[name] ?? '',
    onValue: (value: string) =>
      location.replace(addressOf({ fields: { ...fields, [name]: value }, offset: 0 })),
  });
  const all = ['', t('calls.all')] as const;
  const choices = (group: string, values: readonly string[]) => [
    all,
    ...values.map((value) => [value, word(group, value)] as const),
  ];
  return (
    <search class="filters">
      <SelectField
        label={t('field.agent')}
        {...field('agentId')}
        options={[all, ...agents.options]}
      />
      <SelectField
        label={t('field.status')}
        {...field('status')}
        options={choices('state', ['queued', 'ringing', 'in_progress', 'completed', 'failed'])}
      />
      <SelectField
        label={t('field.direction')}
        {...field('direction')}
        options={choices('direction', ['inbound', 'outbound'])}
      />
      <TextField label={t('calls.from')} type="date" {...field('startDate')} />
      <TextField label={t('calls.to')} type="date" {...field('endDate')} />
    </search>
  );
}

function CallTable(props: { readonly calls: readonly CallItem[]; readonly agents: Agents }) {
  return (
    <Table
      label={t('field.calls')}
      empty={t('calls.none')}
      rows={props.calls}
      keyOf={({ id }) => id}
      columns={{
        begun: ({ id, startedAt }) => (
          <a href={`#/calls/${id}`}>
            {startedAt === null ? t('calls.waiting') : formats.value.instant(startedAt)}
          </a>
        ),
        direction: ({ direction }) => word('direction', direction),
        from: ['number', ({ from }) => from],
        to: ['number', ({ to }) => to],
        agent: ({ agentId }) => props.agents.nameOf(agentId),
        status: ({ status }) => <State of={status} />,
        duration: ['number', ({ durationSeconds }) => clockText(durationSeconds)],
        end: ({ endReason }) => endReason && word('end', endReason),
        mood: ({ sentiment }) => sentiment && word('mood', sentiment),
      }}
    />
  );
}

function ExportButton({ filter: { fields }, agents }: ListProps) {
  const [done, setDone] = useState<number | undefined>(undefined);
  const save = () => {
    setDone(0);
    client
      .all<CallItem>('api/calls', EXPORTED_MAX, { query: fields, told: setDone })
      .then((calls) => saveFile('calls.csv', csvOf(rowsOf(calls, agents))))
      .catch(complain)
      .finally(() => setDone(undefined));
  };
  return (
    <Button
      disabled={done !== undefined}
      onClick={save}
      text={done === undefined ? t('calls.export') : t('calls.exporting', { count: done })}
    />
  );
}

/** Columns are named as the API names the fields, so that the file means the same in every language. */
function rowsOf(calls: readonly CallItem[], agents: Agents): (string | number | null)[][] {
  const names = [
    'id',
    'startedAt',
    'endedAt',
    'direction',
    'from',
    'to',
    'status',
    'endReason',
    'durationSeconds',
    'sentiment',
    'intentDetected',
    'agentId',
  ] as const;
  return [
    [...names, 'agentName'],
    ...calls.map((call) => [...names.map((name) => call[name]), agents.nameOf(call.agentId)]),
  ];
}

/** Gives the reader a table that was made in the page. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser has yet to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
