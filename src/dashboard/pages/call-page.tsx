/** One call: what was said and heard, where the time went, and what was told to whom. */
import { useEffect, useMemo } from 'preact/hooks';
import { isMissing } from '../api-error.ts';
import type { CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { callsAddress, client, t } from '../app-state.ts';
import { CallFacts, CallNote, Messages } from '../call/call-facts.tsx';
import { CallTabs } from '../call/call-tabs.tsx';
import { phoneText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { CallControls } from '../parts/call-controls.tsx';
import { CopyLink } from '../parts/copy-button.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Heard, LevelMeters, useMeterBoard, Words } from '../parts/heard.tsx';
import { LinkButton, Missing, Page, Section, Shown } from '../parts/page.tsx';
import { useLive } from '../parts/use-live.ts';
import { useAgents, useLoad } from '../parts/use-load.ts';
import { recordingOriginMs } from '../time-line.ts';

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
      title={
        call === undefined ? t('field.call') : `${phoneText(call.from)} → ${phoneText(call.to)}`
      }
      actions={
        <>
          <LinkButton href={callsAddress.value} text={t('call.back')} />
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

/** On wide screens the sound and the words are next to the facts; on narrow ones what became of the call comes first. */
function Record(props: Loaded & { readonly onChanged: () => void }) {
  const { call, timeline } = props;
  const originMs = useMemo(() => recordingOriginMs(timeline, call.startedAt), [timeline, call]);
  return (
    <div class="call-panes">
      <div class="call-facts">
        <CallFacts call={call} timeline={timeline} originMs={originMs} />
      </div>
      <div class="call-main">
        {isOver(call) ? (
          <Heard call={call} timeline={timeline} originMs={originMs} />
        ) : (
          <LiveWords loaded={call} onChanged={props.onChanged} />
        )}
        <CallTabs call={call} entries={timeline} originMs={originMs} />
      </div>
      <div class="call-more">
        <CallNote call={call} />
        <Messages messages={call.messages ?? []} />
      </div>
    </div>
  );
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
