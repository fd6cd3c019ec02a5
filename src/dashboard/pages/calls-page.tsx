/** Every call: filtered, page by page, and as a file for spreadsheets. */
import { PhoneIncoming, SearchX } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallItem, CallPage } from '../api-types.ts';
import { callsAddress, client, complain, route, t, wrongFields } from '../app-state.ts';
import { csvOf } from '../csv.ts';
import {
  addressOf,
  CALLS_PER_PAGE,
  type CallFilter,
  type FilterField,
  filterOf,
} from '../format.ts';
import { PlaceCallButton } from '../parts/call-buttons.tsx';
import { CallTable } from '../parts/call-table.tsx';
import { ChoiceFilter, TextField, wordOptions } from '../parts/field.tsx';
import { Button, Empty, LinkButton, Page, Pager, Shown } from '../parts/page.tsx';
import { type Agents, useAgents, useApi } from '../parts/use-load.ts';
import type { TextKey } from '../text/text.ts';

const EXPORTED_MAX = 100_000;

/** Interval at which the newest page is loaded again. */
const REFRESH_MS = 5000;

/** Addresses from which pages were reached, by their cursor: the way back shows the same calls again. */
const newerPages = new Map<string, string>();

export function CallsPage() {
  const filter = filterOf(route.value.query);
  const { fields, offset, cursor } = filter;
  const agents = useAgents();
  const query = { ...fields, limit: CALLS_PER_PAGE, offset, cursor };
  const isNewest = offset === 0 && cursor === undefined;
  const options = isNewest ? { refreshMs: REFRESH_MS } : {};
  const calls = useApi<CallPage>('api/calls', query, options);
  const isFiltered = Object.keys(fields).length > 0;
  const isEmpty = !isFiltered && isNewest && calls.value?.total === 0;
  useEffect(() => {
    callsAddress.value = addressOf(filter);
  }, [addressOf(filter)]);
  return (
    <Page
      title={t('field.calls')}
      actions={
        <>
          <PlaceCallButton />
          {!isEmpty && <ExportButtons filter={filter} agents={agents} />}
        </>
      }
    >
      {!isEmpty && <Filters filter={filter} agents={agents} wrong={wrongFields(calls.error)} />}
      <Shown loaded={calls}>
        {({ data, total, ...page }) =>
          data.length === 0 ? (
            <NoCalls isFiltered={isFiltered || !isNewest} />
          ) : (
            <>
              <CallTable calls={data} agents={agents} />
              {total > CALLS_PER_PAGE && (
                <Pager
                  {...{ total, offset: page.offset, limit: CALLS_PER_PAGE }}
                  onOffset={(next) => location.assign(addressOfPage(next, page, filter))}
                />
              )}
            </>
          )
        }
      </Shown>
    </Page>
  );
}

/** @param next its first call, counted in the list as it was loaded. */
function addressOfPage(
  next: number,
  { offset, nextCursor }: Pick<CallPage, 'offset' | 'nextCursor'>,
  filter: CallFilter,
): string {
  const { fields, cursor = '' } = filter;
  if (next < offset) return newerPages.get(cursor) ?? addressOf({ fields, offset: next });
  if (nextCursor === null) return addressOf({ fields, offset: next });
  newerPages.set(nextCursor, addressOf(filter));
  return addressOf({ fields, offset: 0, cursor: nextCursor });
}

function NoCalls({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={SearchX} text={t('calls.none')}>
      <LinkButton href="#/calls" text={t('calls.clear')} />
    </Empty>
  ) : (
    <Empty icon={PhoneIncoming} text={t('calls.empty')}>
      <LinkButton isMain href="#/agents" text={t('calls.emptyButton')} />
    </Empty>
  );
}

interface ListProps {
  readonly filter: CallFilter;
  readonly agents: Agents;
}

/** Fields that are folded away unless one of them is set. */
const MORE = [
  'direction',
  'endReason',
  'sentiment',
  'answeredBy',
  'tag',
  'minDurationSeconds',
  'maxDurationSeconds',
] as const;

function Filters(props: ListProps & { readonly wrong: Readonly<Record<string, string>> }) {
  const { agents, wrong } = props;
  const { fields } = props.filter;
  const field = (name: FilterField, label: TextKey) => ({
    label: t(label),
    value: fields[name] ?? '',
    error: wrong[name],
    onValue: (value: string) =>
      location.replace(addressOf({ fields: { ...fields, [name]: value }, offset: 0 })),
  });
  return (
    <search>
      <div class="filters">
        <TypedField type="search" {...field('q', 'calls.search')} />
        <ChoiceFilter {...field('agentId', 'field.agent')} options={agents.options} />
        <ChoiceFilter {...field('status', 'field.status')} options={wordOptions('state', STATES)} />
        <TextField type="date" {...field('startDate', 'calls.from')} />
        <TextField type="date" {...field('endDate', 'calls.to')} />
      </div>
      <details open={MORE.some((name) => fields[name] !== undefined)}>
        <summary>{t('calls.moreFilters')}</summary>
        <div class="filters">
          {CHOICES.map(([name, group, values]) => (
            <ChoiceFilter
              key={name}
              {...field(name, `field.${group}`)}
              options={wordOptions(group, values)}
            />
          ))}
          <TypedField type="text" {...field('tag', 'calls.tag')} />
          <TypedField type="number" {...field('minDurationSeconds', 'calls.longerThan')} />
          <TypedField type="number" {...field('maxDurationSeconds', 'calls.shorterThan')} />
        </div>
      </details>
    </search>
  );
}

const STATES = ['queued', 'ringing', 'in_progress', 'completed', 'failed'];

const END_REASONS = 'user_hangup agent_hangup timeout transferred no_answer busy error'.split(' ');

/** Filters with the words of their values, which name their fields too. */
const CHOICES = [
  ['direction', 'direction', ['inbound', 'outbound']],
  ['endReason', 'end', END_REASONS],
  ['sentiment', 'mood', ['positive', 'neutral', 'negative']],
  ['answeredBy', 'answeredBy', ['human', 'machine', 'unknown']],
] as const;

/** Time without a key after which a search begins. */
const TYPED_MS = 300;

/** A filter that is typed, and takes effect when the reader pauses. */
function TypedField(props: {
  readonly label: string;
  readonly type: 'search' | 'text' | 'number';
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}) {
  const { value, onValue } = props;
  const [text, setText] = useState(value);
  const asked = useRef(value);
  useEffect(() => {
    if (value !== asked.current) setText(value);
    asked.current = value;
  }, [value]);
  useEffect(() => {
    if (text.trim() === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = text.trim();
      onValue(asked.current);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField
      label={props.label}
      type={props.type}
      value={text}
      error={props.error}
      onValue={setText}
    />
  );
}

/** Buttons that export the filtered calls: as a table for spreadsheets, or with all fields for programs. */
function ExportButtons({ filter: { fields }, agents }: ListProps) {
  const [done, setDone] = useState<number | undefined>(undefined);
  const save = (fileOf: (calls: readonly CallItem[]) => SavedFile) => () => {
    setDone(0);
    client
      .all<CallItem>('api/calls', EXPORTED_MAX, { query: fields, told: setDone })
      .then((calls) => saveFile(fileOf(calls)))
      .catch(complain)
      .finally(() => setDone(undefined));
  };
  if (done !== undefined) {
    return <Button disabled onClick={() => {}} text={t('calls.exporting', { count: done })} />;
  }
  return (
    <>
      <Button
        onClick={save((calls) => ({
          ...{ name: 'calls.csv', type: 'text/csv' },
          text: csvOf(rowsOf(calls, agents)),
        }))}
        text={t('calls.export')}
      />
      <Button
        onClick={save((calls) => ({
          ...{ name: 'calls.json', type: 'application/json' },
          text: JSON.stringify(calls, null, 2),
        }))}
        text={t('calls.exportJson')}
      />
    </>
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
    [...names, 'agentName', 'cost.amount', 'cost.currency'],
    ...calls.map((call) => [
      ...names.map((name) => call[name]),
      agents.nameOf(call.agentId),
      ...[call.cost?.amount ?? null, call.cost?.currency ?? null],
    ]),
  ];
}

interface SavedFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** Gives the reader a file that was made in the page. */
function saveFile({ name, type, text }: SavedFile): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser has yet to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
