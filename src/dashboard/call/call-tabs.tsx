/** Tabs below the words of a call: turns, tools, sound quality, signalling, events with deliveries, and timeline. */

import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type {
  CallDetail,
  CallQuality,
  Delivery,
  LedgerEvent,
  Paged,
  SipLog,
  TimelineEntry,
} from '../api-types.ts';
import { client, formats, language, t, word } from '../app-state.ts';
import { clockText } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { FactList, Instant, Loading, Problem, Section, Table } from '../parts/page.tsx';
import { type Loaded, useApi, useLoad } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { DeliveryTable } from '../webhooks/deliveries.tsx';
import { SipLadder, useSipLog } from './sip-ladder.tsx';
import { detailsText } from './timeline.ts';

interface EntriesProps {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}

interface Parts extends EntriesProps {
  readonly quality: Loaded<CallQuality>;
  readonly sip: Loaded<SipLog>;
  readonly events: Loaded<EventsOfCall>;
}

/** Tabs of a call; nothing where all are empty. All load before the first is drawn: a later tab would move the others. */
export function CallTabs(
  props: EntriesProps & { readonly call: Pick<CallDetail, 'id' | 'status'> },
) {
  const { entries, originMs } = props;
  const { id, status } = props.call;
  const quality = useApi<CallQuality>(`api/calls/${id}/quality`, {}, { round: status });
  const sip = useSipLog(id, status);
  const events = useCallEvents(id, status);
  const loaded = [quality, sip, events];
  const isSettled = loaded.every(({ value, error }) => value !== undefined || error !== undefined);
  const tabs = tabsOf({ entries, originMs, quality, sip, events });
  const isFaulty = loaded.some(({ error }) => error !== undefined);
  if (isSettled && tabs.length === 0 && !isFaulty) return null;
  return (
    <Section title={t('call.details')}>
      {loaded.map(({ error }, index) => (
        <Problem key={index} error={error} />
      ))}
      {isSettled ? <Tabs label={t('call.details')} tabs={tabs} /> : <Loading />}
    </Section>
  );
}

function tabsOf({ entries, originMs, quality, sip, events }: Parts): readonly Tab[] {
  const line = { entries, originMs };
  const hasKind = (wanted: string) => entries.some(({ kind }) => kind === wanted);
  const tab = (name: string, title: string, isThere: boolean, content: Tab['content']) =>
    isThere ? [{ name, title, content }] : [];
  const { value: figures } = quality;
  const { value: log } = sip;
  const { value: told } = events;
  return [
    ...tab('turns', t('call.timing'), hasKind('turn'), () => <Waterfall {...line} />),
    ...tab('tools', t('nav.tools'), hasKind('tool'), () => <ToolTable {...line} />),
    ...(figures === undefined
      ? []
      : tab('quality', t('quality.title'), isMeasured(figures), () => (
          <QualityFigures quality={figures} />
        ))),
    ...(log === undefined
      ? []
      : tab('sip', t('ladder.title'), log.messages.length > 0, () => <SipLadder log={log} />)),
    ...(told === undefined
      ? []
      : tab('events', t('field.events'), told.events.length > 0, () => (
          <CallEvents {...told} onChanged={events.reload} />
        ))),
    ...tab('timeline', t('timeline.title'), entries.length > 0, () => <Timeline {...line} />),
  ];
}

/** When it was, counted from the beginning of the recording. */
function placeOf({ timestamp }: TimelineEntry, originMs: number): string {
  return clockText((Date.parse(timestamp) - originMs) / 1000);
}

/** Tools that the agent ran. */
function ToolTable({ entries, originMs }: EntriesProps) {
  return (
    <Table
      label={t('nav.tools')}
      rows={entries.filter(({ kind }) => kind === 'tool')}
      columns={{
        at: ['number', (entry) => placeOf(entry, originMs)],
        deed: ({ details }) => word('tool', String(details.name)),
        outcome: ({ details }) => word('outcome', String(details.outcome)),
        took: ['number', ({ details }) => formats.value.ms(Number(details.tookMs))],
      }}
    />
  );
}

/** Timeline of a call, step by step, as the server wrote it down. */
function Timeline({ entries, originMs }: EntriesProps) {
  return (
    <Table
      label={t('timeline.title')}
      rows={entries}
      columns={{
        at: ['number', (entry) => placeOf(entry, originMs)],
        instant: ({ timestamp }) => <Instant at={timestamp} />,
        kind: ({ kind }) => word('event', kind),
        details: [
          'small',
          ({ details }) =>
            detailsText({ language: language.value, formats: formats.value }, details),
        ],
      }}
    />
  );
}

/** Whether anything was measured. */
function isMeasured({ local, remote, mos }: CallQuality): boolean {
  return local !== null || remote !== null || mos !== null;
}

function QualityFigures({ quality }: { readonly quality: CallQuality }) {
  const { codec, local, remote, mos } = quality;
  const { count, decimal } = formats.value;
  const figure = (value: number | null | undefined, unit = '') =>
    value === null || value === undefined ? '–' : `${decimal(value)}${unit}`;
  const figures = [
    [t('quality.mos'), mos === null ? '–' : `${decimal(mos)} (${t(`quality.${wordOfMos(mos)}`)})`],
    [t('quality.codec'), codec ?? '–'],
    [t('quality.received'), local === null ? '–' : count(local.packetsReceived)],
    [t('quality.lost'), figure(local?.packetsLost)],
    [t('quality.late'), figure(local?.packetsLate)],
    [t('quality.loss'), figure(local?.lossPercent, ' %')],
    [t('quality.jitter'), figure(local?.jitterMs, ' ms')],
    [t('quality.sent'), local === null ? '–' : count(local.packetsSent)],
    [t('quality.unsent'), figure(local?.packetsUnsent)],
    [t('quality.farLoss'), figure(remote?.lossPercent, ' %')],
    [t('quality.farJitter'), figure(remote?.jitterMs, ' ms')],
    [t('quality.roundTrip'), figure(remote?.roundTripMs, ' ms')],
  ] as const;
  return <FactList class="facts" facts={figures} />;
}

/** Users satisfied, some dissatisfied, many dissatisfied. @see ITU-T G.107, Annex B */
function wordOfMos(mos: number): 'good' | 'fair' | 'poor' {
  if (mos >= 4.03) return 'good';
  return mos >= 3.6 ? 'fair' : 'poor';
}

interface EventsOfCall {
  readonly events: readonly LedgerEvent[];
  readonly deliveries: readonly Delivery[];
}

/** @param status of the call: each change brings an event. */
function useCallEvents(callId: string, status: string): Loaded<EventsOfCall> {
  return useLoad(['events', callId, status], (signal) => load(callId, signal));
}

function CallEvents(props: EventsOfCall & { readonly onChanged: () => void }) {
  const { events, deliveries, onChanged } = props;
  return (
    <>
      <Table
        label={t('field.events')}
        rows={events}
        columns={{
          event: ({ event }) => event,
          created: ({ createdAt }) => <Instant at={createdAt} />,
          id: ({ id }) => <code>{id}</code>,
          payload: (event) => <Payload of={event} />,
        }}
      />
      {deliveries.length > 0 && (
        <>
          <h3>{t('deliveries.title')}</h3>
          <DeliveryTable deliveries={deliveries} onChanged={onChanged} />
        </>
      )}
    </>
  );
}

/** Payload of an event, as webhook endpoints get it. */
function Payload({ of: event }: { readonly of: LedgerEvent }) {
  const text = JSON.stringify(event, null, 2);
  return (
    <details class="payload">
      <summary>JSON</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton label={t('app.copy')} text={text} />
    </details>
  );
}

async function load(callId: string, signal: AbortSignal): Promise<EventsOfCall> {
  const query = { callId, limit: 20 };
  const { data: events } = await client.api<Paged<LedgerEvent>>('api/events', { query, signal });
  const pages = await Promise.all(
    events.map(({ id }) =>
      client.api<Paged<Delivery>>('api/webhooks/deliveries', { query: { eventId: id }, signal }),
    ),
  );
  return { events, deliveries: pages.flatMap(({ data }) => data) };
}

interface Tab {
  readonly name: string;
  readonly title: string;
  readonly content: () => ComponentChildren;
}

/** Tabs of a section; nothing where there is no tab. @param props.tabs in their order; the first is open until another is chosen. */
function Tabs(props: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const { label, tabs } = props;
  const [chosen, setChosen] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = tabs.find(({ name }) => name === chosen) ?? tabs[0];
  if (open === undefined) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = tabAfter(event.key, tabs.indexOf(open), tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(tabs[next]?.name ?? '');
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === open.name}
            aria-controls={`${id}-panel`}
            tabIndex={name === open.name ? 0 : -1}
            onClick={() => setChosen(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${open.name}`}
        key={open.name}
      >
        {open.content()}
      </div>
    </>
  );
}

/** Place of the tab that a key leads to; undefined for other keys. */
function tabAfter(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}
