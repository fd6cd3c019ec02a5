/** One call: what was said and heard, where the time went, and what was told to whom. */
import { useEffect, useMemo } from 'preact/hooks';
import { isMissing } from '../api-error.ts';
import type {
  CallDetail,
  CallQuality,
  Delivery,
  LedgerEvent,
  Paged,
  TimelineEntry,
} from '../api-types.ts';
import { callsAddress, client, formats, language, sentence, t, word } from '../app-state.ts';
import { clockText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { CallControls } from '../parts/call-controls.tsx';
import { CallNote } from '../parts/call-note.tsx';
import { CopyLink } from '../parts/copy-link.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Heard, LevelMeters, useMeterBoard, Words } from '../parts/heard.tsx';
import { Messages } from '../parts/messages.tsx';
import { FactList, Instant, Missing, Page, Section, Shown, State, Table } from '../parts/page.tsx';
import { SipLadder } from '../parts/sip-ladder.tsx';
import { useLive } from '../parts/use-live.ts';
import { useAgents, useApi, useLoad } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { detailsText } from '../text/event-details.ts';
import { recordingOriginMs } from '../time-line.ts';
import { DeliveryTable } from '../webhooks/deliveries.tsx';

/** More entries than that a page does not draw. */
const TIMELINE_MAX = 1000;

interface Loaded {
  readonly call: CallDetail;
  readonly timeline: readonly TimelineEntry[];
}

export function CallPage({ id }: { readonly id: string }) {
  const path = `api/calls/${encodeURIComponent(id)}`;
  const loaded = useLoad<Loaded>(['call', path], async (signal) => {
    const query = { limit: TIMELINE_MAX };
    const [call, timeline] = await Promise.all([
      client.api<CallDetail>(path, { signal }),
      client.api<Paged<TimelineEntry>>(`${path}/events`, { query, signal }),
    ]);
    return { call, timeline: timeline.data };
  });
  // A name in the place of the agent's id would move everything below it.
  const { isSettled } = useAgents();
  const shown = isSettled ? loaded : { ...loaded, value: undefined };
  const call = isMissing(loaded.error) ? undefined : loaded.value?.call;
  return (
    <Page
      title={call === undefined ? t('call.title') : `${call.from} → ${call.to}`}
      actions={
        <>
          <a class="button" href={callsAddress.value}>
            {t('call.back')}
          </a>
          {call !== undefined && <CopyLink />}
          {call !== undefined && <Actions call={call} />}
        </>
      }
    >
      <Shown loaded={shown} missing={<Missing what="call" path={path} />}>
        {(value) => <Record {...value} onChanged={loaded.reload} />}
      </Shown>
    </Page>
  );
}

function Actions({ call }: { readonly call: CallDetail }) {
  if (isOver(call)) return <DeleteCall callId={call.id} />;
  return <CallControls callId={call.id} isAnswered={call.status === 'in_progress'} />;
}

function Record(props: Loaded & { readonly onChanged: () => void }) {
  const { call, timeline } = props;
  const originMs = useMemo(() => recordingOriginMs(timeline, call.startedAt), [timeline, call]);
  return (
    <>
      <Facts call={call} company={companyOf(timeline, originMs)} />
      {isOver(call) ? (
        <Heard call={call} timeline={timeline} originMs={originMs} />
      ) : (
        <LiveWords loaded={call} onChanged={props.onChanged} />
      )}
      <Section title={t('call.timing')}>
        <Waterfall entries={timeline} originMs={originMs} />
      </Section>
      <ToolTable entries={timeline} originMs={originMs} />
      <CallNote call={call} />
      <Messages messages={call.messages ?? []} />
      <Quality callId={call.id} status={call.status} />
      <SipLadder callId={call.id} status={call.status} />
      <CallEvents callId={call.id} status={call.status} />
      <Timeline entries={timeline} originMs={originMs} />
    </>
  );
}

function Facts(props: { readonly call: CallDetail; readonly company: readonly string[] }) {
  const { call, company } = props;
  const agents = useAgents();
  const wordFor = (group: string, value: string | null) =>
    value === null ? '–' : word(group, value);
  const facts = [
    [t('field.status'), <State of={call.status} />],
    [t('field.agent'), <a href={`#/agents/${call.agentId}`}>{agents.nameOf(call.agentId)}</a>],
    [t('field.direction'), wordFor('direction', call.direction)],
    [t('field.begun'), <Instant at={call.startedAt} />],
    [t('field.duration'), call.endedAt === null ? '–' : clockText(call.durationSeconds)],
    [t('field.end'), wordFor('end', call.endReason)],
    ...(call.answeredBy === null
      ? []
      : [[t('call.answeredBy'), word('answeredBy', call.answeredBy)] as const]),
    [t('field.mood'), wordFor('mood', call.sentiment)],
    [t('field.intent'), wordFor('intent', call.intentDetected)],
    ...(company.length === 0 ? [] : [[t('call.company'), company.join('; ')] as const]),
    [t('field.id'), <code>{call.id}</code>],
  ] as const;
  return (
    <section class="card" aria-label={t('call.facts')}>
      {call.failureReason !== null && (
        <p class="summary">
          {t(call.status === 'queued' ? 'call.waitsBecause' : 'call.failedBecause')}{' '}
          <strong>{sentence(call.failureReason)}</strong>
        </p>
      )}
      {call.summary !== null && <p class="summary">{call.summary}</p>}
      {call.success !== null && (
        <p class="summary">
          {t(call.success.met ? 'call.successMet' : 'call.successMissed')} {call.success.reason}
        </p>
      )}
      {call.extracted !== null && <FactList class="facts" facts={extractedOf(call.extracted)} />}
      <FactList class="facts" facts={facts} />
    </section>
  );
}

/** What the agent reads out of its calls, a line a field. */
function extractedOf(extracted: NonNullable<CallDetail['extracted']>) {
  return Object.entries(extracted).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
}

/**
 * What another party did on the call, in words: joined caller and agent, left again, was connected with the caller, hung up
 * so that the agent came back, took the caller's place.
 */
function companyOf(timeline: readonly TimelineEntry[], originMs: number): readonly string[] {
  return timeline.flatMap(({ kind, timestamp, details }) => {
    const at = clockText((Date.parse(timestamp) - originMs) / 1000);
    if (kind === 'bridge_ended' && details.isCallerBack === true)
      return t('call.callerBack', { at });
    if (kind === 'far_end_transfer') return t('call.farEndTransfer', { at });
    if (kind !== 'transfer' && kind !== 'three_way' && kind !== 'three_way_ended') return [];
    return t(`company.${kind}`, { at });
  });
}

/** @param props.onChanged told when the call has come into another state than it was loaded in. */
function LiveWords(props: { readonly loaded: CallDetail; readonly onChanged: () => void }) {
  const { id, status } = props.loaded;
  const board = useMeterBoard();
  const { live } = useLive(id, board);
  const call = live.calls.find((one) => one.id === id);
  useEffect(() => {
    if (call !== undefined && call.status !== status) props.onChanged();
  }, [call?.status]);
  return (
    <Section title={t('words.label')}>
      <LevelMeters callId={id} board={board} />
      <Words entries={call?.transcript ?? []} hearing={call?.hearing ?? ''} />
    </Section>
  );
}

/** Erases a call that is over, and goes back to the list. */
function DeleteCall({ callId }: { readonly callId: string }) {
  const remove = async () => {
    await client.api(`api/calls/${encodeURIComponent(callId)}`, { method: 'DELETE' });
    location.hash = callsAddress.value;
  };
  return (
    <ConfirmButton
      needs="admin"
      label={t('call.delete')}
      question={t('call.deleteQuestion')}
      done={t('call.deleted')}
      onConfirm={remove}
    />
  );
}

interface EntriesProps {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}

/** When it was, counted from the beginning of the recording. */
function placeOf({ timestamp }: TimelineEntry, originMs: number): string {
  return clockText((Date.parse(timestamp) - originMs) / 1000);
}

/** What the agent did besides talking. */
function ToolTable({ entries, originMs }: EntriesProps) {
  return (
    <Section title={t('tools.title')}>
      <Table
        label={t('tools.title')}
        empty={t('tools.none')}
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
    </Section>
  );
}

/** What happened on a call, step by step, as the server wrote it down. */
function Timeline({ entries, originMs }: EntriesProps) {
  return (
    <Section title={t('timeline.title')}>
      <Table
        label={t('timeline.title')}
        empty={t('timeline.none')}
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
    </Section>
  );
}

/** @param props.status of the call: each change has brought figures. */
function Quality({ callId, status }: { readonly callId: string; readonly status: string }) {
  const loaded = useApi<CallQuality>(`api/calls/${callId}/quality`, {}, status);
  return (
    <Section title={t('quality.title')}>
      <Shown loaded={loaded}>{(quality) => <Figures quality={quality} />}</Shown>
    </Section>
  );
}

function Figures({ quality: { codec, local, remote, mos } }: { readonly quality: CallQuality }) {
  if (local === null && remote === null && mos === null) {
    return <p class="empty">{t('quality.none')}</p>;
  }
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

/** The events of a call, and whether each endpoint has got them. @param props.status of the call: each change brings an event. */
function CallEvents({ callId, status }: { readonly callId: string; readonly status: string }) {
  const loaded = useLoad(['events', callId, status], (signal) => load(callId, signal));
  return (
    <Section title={t('field.events')}>
      <Shown loaded={loaded}>
        {({ events, deliveries }) => (
          <>
            <Table
              label={t('field.events')}
              empty={t('events.none')}
              rows={events}
              columns={{
                event: ({ event }) => event,
                created: ({ createdAt }) => <Instant at={createdAt} />,
                id: ({ id }) => <code>{id}</code>,
              }}
            />
            {deliveries.length > 0 && (
              <>
                <h3>{t('deliveries.title')}</h3>
                <DeliveryTable deliveries={deliveries} onChanged={loaded.reload} />
              </>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

async function load(callId: string, signal: AbortSignal) {
  const query = { callId, limit: 20 };
  const { data: events } = await client.api<Paged<LedgerEvent>>('api/events', { query, signal });
  const pages = await Promise.all(
    events.map(({ id }) =>
      client.api<Paged<Delivery>>('api/webhooks/deliveries', { query: { eventId: id }, signal }),
    ),
  );
  return { events, deliveries: pages.flatMap(({ data }) => data) };
}
