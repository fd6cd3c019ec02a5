/** One call: what was said and heard, where the time went, and what was told to whom. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isMissing } from '../api-error.ts';
import type { CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { client, language, t } from '../app-state.ts';
import { BROWSER_BOARD } from '../browser-board.ts';
import { clockText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { MeterBoard } from '../meter-board.ts';
import { CallControls } from '../parts/call-controls.tsx';
import { CallEvents } from '../parts/call-events.tsx';
import { DeleteCall } from '../parts/delete-call.tsx';
import { FactList } from '../parts/fact-list.tsx';
import { Heard } from '../parts/heard.tsx';
import { LevelMeters } from '../parts/level-meters.tsx';
import { Missing } from '../parts/missing.tsx';
import { Instant, Page, Section, Shown, State } from '../parts/page.tsx';
import { Quality } from '../parts/quality.tsx';
import { SipLadder } from '../parts/sip-ladder.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { ToolTable } from '../parts/tool-table.tsx';
import { useAgents } from '../parts/use-agents.ts';
import { useLive } from '../parts/use-live.ts';
import { useLoad } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { Words } from '../parts/words.tsx';
import { wordOf } from '../text/text.ts';
import { recordingOriginMs } from '../time-line.ts';

/** More entries than that a page does not draw. */
const TIMELINE_MAX = 1000;

interface Loaded {
  readonly call: CallDetail;
  readonly timeline: readonly TimelineEntry[];
}

export function CallPage({ id }: { readonly id: string }) {
  const loaded = useLoad<Loaded>(
    async (signal) => {
      const path = `api/calls/${encodeURIComponent(id)}`;
      const [call, timeline] = await Promise.all([
        client.api<CallDetail>(path, { signal }),
        client.api<Paged<TimelineEntry>>(`${path}/events`, {
          query: { limit: TIMELINE_MAX },
          signal,
        }),
      ]);
      return { call, timeline: timeline.data };
    },
    [id],
  );
  const call = isMissing(loaded.error) ? undefined : loaded.value?.call;
  return (
    <Page
      title={call === undefined ? t('call.title') : `${call.from} → ${call.to}`}
      actions={
        <>
          <a class="button" href="#/calls">
            {t('call.back')}
          </a>
          {call === undefined ? null : <Actions call={call} />}
        </>
      }
    >
      <Shown
        loaded={loaded}
        missing={<Missing what="call" path={`api/calls/${encodeURIComponent(id)}`} />}
      >
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
      <Quality callId={call.id} status={call.status} />
      <SipLadder callId={call.id} status={call.status} />
      <CallEvents callId={call.id} />
      <Timeline entries={timeline} originMs={originMs} />
    </>
  );
}

function Facts(props: { readonly call: CallDetail; readonly company: readonly string[] }) {
  const { call, company } = props;
  const agents = useAgents();
  const word = (group: string, value: string | null) =>
    value === null ? '–' : wordOf(language.value, group, value);
  const facts = [
    [t('calls.status'), <State of={call.status} />],
    [t('calls.agent'), <a href={`#/agents/${call.agentId}`}>{agents.nameOf(call.agentId)}</a>],
    [t('calls.direction'), word('direction', call.direction)],
    [t('calls.begun'), <Instant at={call.startedAt} />],
    [t('calls.duration'), call.endedAt === null ? '–' : clockText(call.durationSeconds)],
    [t('calls.end'), word('end', call.endReason)],
    [t('calls.mood'), word('mood', call.sentiment)],
    [t('call.intent'), call.intentDetected ?? '–'],
    ...(company.length === 0 ? [] : [[t('call.company'), company.join('; ')] as const]),
    [t('call.id'), <code>{call.id}</code>],
  ] as const;
  return (
    <section class="card" aria-label={t('call.facts')}>
      {call.failureReason === null ? null : (
        <p class="summary">
          {t(call.status === 'queued' ? 'call.waitsBecause' : 'call.failedBecause')}{' '}
          <strong>{call.failureReason}</strong>
        </p>
      )}
      {call.summary === null ? null : <p class="summary">{call.summary}</p>}
      <FactList class="facts" facts={facts} />
    </section>
  );
}

/** What another party did on the call, in words: joined caller and agent, left again, was connected with the caller. */
function companyOf(timeline: readonly TimelineEntry[], originMs: number): readonly string[] {
  return timeline.flatMap(({ kind, timestamp }) => {
    if (kind !== 'transfer' && kind !== 'three_way' && kind !== 'three_way_ended') return [];
    return t(`company.${kind}`, { at: clockText((Date.parse(timestamp) - originMs) / 1000) });
  });
}

/** @param props.onChanged told when the call has come into another state than it was loaded in. */
function LiveWords(props: { readonly loaded: CallDetail; readonly onChanged: () => void }) {
  const { id, status } = props.loaded;
  const [board] = useState(() => new MeterBoard(BROWSER_BOARD));
  useEffect(() => () => board.stop(), [board]);
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
