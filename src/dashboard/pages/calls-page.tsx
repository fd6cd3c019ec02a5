/** Every call: filtered, page by page, and as a file for spreadsheets. */
import { useState } from 'preact/hooks';
import type { CallItem, Paged } from '../api-types.ts';
import { client, complain, formats, language, route, t } from '../app-state.ts';
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
import { Page, Pager, Shown, State, Table } from '../parts/page.tsx';
import { saveFile } from '../parts/save-file.ts';
import { type Agents, useAgents, useLoad } from '../parts/use-load.ts';
import { wordOf } from '../text/text.ts';

/** The API's own limit for a page, of which an export asks one after the other. */
const EXPORT_PAGE = 100;
const EXPORTED_MAX = 100_000;

export function CallsPage() {
  const filter = filterOf(route.value.query);
  const agents = useAgents();
  const address = addressOf(filter);
  const calls = useLoad(
    (signal) => {
      const query = { ...filter.fields, limit: CALLS_PER_PAGE, offset: filter.offset };
      return client.api<Paged<CallItem>>('api/calls', { query, signal });
    },
    [address],
  );
  return (
    <Page title={t('calls.title')} actions={<ExportButton filter={filter} agents={agents} />}>
      <Filters filter={filter} agents={agents} />
      <Shown loaded={calls}>
        {({ data, total }) => (
          <>
            <CallTable calls={data} agents={agents} />
            <Pager
              total={total}
              offset={filter.offset}
              limit={CALLS_PER_PAGE}
              onOffset={(offset) => location.assign(addressOf({ ...filter, offset }))}
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Filters({ filter, agents }: { readonly filter: CallFilter; readonly agents: Agents }) {
  const { fields } = filter;
  const set = (name: FilterField) => (value: string) =>
    location.replace(addressOf({ fields: { ...fields, [name]: value }, offset: 0 }));
  const choices = (group: string, values: readonly string[]) => [
    ['', t('calls.all')] as const,
    ...values.map((value) => [value, wordOf(language.value, group, value)] as const),
  ];
  return (
    <search class="filters">
      <SelectField
        label={t('calls.agent')}
        value={fields.agentId ?? ''}
        onValue={set('agentId')}
        options={[['', t('calls.all')], ...agents.list.map(({ id, name }) => [id, name] as const)]}
      />
      <SelectField
        label={t('calls.status')}
        value={fields.status ?? ''}
        onValue={set('status')}
        options={choices('state', ['queued', 'ringing', 'in_progress', 'completed', 'failed'])}
      />
      <SelectField
        label={t('calls.direction')}
        value={fields.direction ?? ''}
        onValue={set('direction')}
        options={choices('direction', ['inbound', 'outbound'])}
      />
      <TextField
        label={t('calls.from')}
        type="date"
        value={fields.startDate ?? ''}
        onValue={set('startDate')}
      />
      <TextField
        label={t('calls.to')}
        type="date"
        value={fields.endDate ?? ''}
        onValue={set('endDate')}
      />
    </search>
  );
}

function CallTable({
  calls,
  agents,
}: {
  readonly calls: readonly CallItem[];
  readonly agents: Agents;
}) {
  if (calls.length === 0) return <p class="empty">{t('calls.none')}</p>;
  const heads = [
    'begun',
    'direction',
    'fromNumber',
    'toNumber',
    'agent',
    'status',
    'duration',
    'end',
    'mood',
  ] as const;
  return (
    <Table label={t('calls.title')} heads={heads.map((head) => t(`calls.${head}`))}>
      {calls.map((call) => (
        <tr key={call.id}>
          <td>
            <a href={`#/calls/${call.id}`}>
              {call.startedAt === null ? t('calls.waiting') : formats.value.instant(call.startedAt)}
            </a>
          </td>
          <td>{wordOf(language.value, 'direction', call.direction)}</td>
          <td class="number">{call.from}</td>
          <td class="number">{call.to}</td>
          <td>{agents.nameOf(call.agentId)}</td>
          <td>
            <State of={call.status} />
          </td>
          <td class="number">{clockText(call.durationSeconds)}</td>
          <td>{call.endReason === null ? '' : wordOf(language.value, 'end', call.endReason)}</td>
          <td>{call.sentiment === null ? '' : wordOf(language.value, 'mood', call.sentiment)}</td>
        </tr>
      ))}
    </Table>
  );
}

function ExportButton({
  filter,
  agents,
}: {
  readonly filter: CallFilter;
  readonly agents: Agents;
}) {
  const [done, setDone] = useState<number | undefined>(undefined);
  const save = async () => {
    try {
      setDone(0);
      const calls = await allCalls(filter, setDone);
      saveFile('calls.csv', 'text/csv;charset=utf-8', csvOf(rowsOf(calls, agents)));
    } catch (error) {
      complain(error);
    } finally {
      setDone(undefined);
    }
  };
  return (
    <button type="button" disabled={done !== undefined} onClick={() => void save()}>
      {done === undefined ? t('calls.export') : t('calls.exporting', { count: done })}
    </button>
  );
}

async function allCalls(
  { fields }: CallFilter,
  tell: (count: number) => void,
): Promise<readonly CallItem[]> {
  const calls: CallItem[] = [];
  while (calls.length < EXPORTED_MAX) {
    const query = { ...fields, limit: EXPORT_PAGE, offset: calls.length };
    const { data } = await client.api<Paged<CallItem>>('api/calls', { query });
    calls.push(...data);
    tell(calls.length);
    if (data.length < EXPORT_PAGE) break;
  }
  return calls;
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
