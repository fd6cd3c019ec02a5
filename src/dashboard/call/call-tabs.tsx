/** Below the words of a call: its turns, tools, sound quality, signalling, events and timeline, a tab each where there is something. */
import type { CallDetail, CallQuality, SipLog, TimelineEntry } from '../api-types.ts';
import { formats, language, t, word } from '../app-state.ts';
import { clockText } from '../format.ts';
import { Instant, Loading, Problem, Section, Table } from '../parts/page.tsx';
import { type Tab, Tabs } from '../parts/tabs.tsx';
import { type Loaded, useApi } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { detailsText } from '../text/event-details.ts';
import { CallEvents, type EventsOfCall, useCallEvents } from './call-events.tsx';
import { isMeasured, QualityFigures } from './call-quality.tsx';
import { SipLadder, useSipLog } from './sip-ladder.tsx';

interface EntriesProps {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}

interface Parts extends EntriesProps {
  readonly quality: Loaded<CallQuality>;
  readonly sip: Loaded<SipLog>;
  readonly events: Loaded<EventsOfCall>;
}

/** Nothing where no tab has something. All is loaded before the first is drawn: a tab that comes later would move the others. */
export function CallTabs(
  props: EntriesProps & { readonly call: Pick<CallDetail, 'id' | 'status'> },
) {
  const { entries, originMs } = props;
  const { id, status } = props.call;
  const quality = useApi<CallQuality>(`api/calls/${id}/quality`, {}, status);
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
    ...tab('tools', t('tools.title'), hasKind('tool'), () => <ToolTable {...line} />),
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

/** What the agent did besides talking. */
function ToolTable({ entries, originMs }: EntriesProps) {
  return (
    <Table
      label={t('tools.title')}
      rows={entries.filter(({ kind }) => kind === 'tool')}
      columns={{
        at: ['number', (entry) => placeOf(entry, originMs)],
        deed: ({ details }) => word('tool', String(details.name)),
        outcome: ({ details }) => word('outcome', String(details.outcome)),
        took: [
          'number',
          ({ details }) => `${formats.value.count(Math.round(Number(details.tookMs)))} ms`,
        ],
      }}
    />
  );
}

/** What happened on a call, step by step, as the server wrote it down. */
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
