/** One call: its outcome, recording and transcript, times, SIP messages, events and notes. */

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { isMissing } from '../api-error.ts';
import type { CallDetail, TimelineEntry } from '../api-types.ts';
import { callsAddress, client, formats, say, sentence, t, word } from '../app-state.ts';
import { CallTabs } from '../call/call-tabs.tsx';
import { clockText, entriesOf, phoneText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { CallControls } from '../parts/call-controls.tsx';
import { CopyButton, CopyLink } from '../parts/copy-button.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import { Heard, LevelMeters, useMeterBoard, Words } from '../parts/heard.tsx';
import {
  FactList,
  Instant,
  LinkButton,
  Missing,
  Page,
  Section,
  Shown,
  State,
  Table,
} from '../parts/page.tsx';
import { useLive } from '../parts/use-live.ts';
import { type CallRecord, useAgents, useCallRecord } from '../parts/use-load.ts';
import { recordingOriginMs } from '../time-line.ts';

export function CallPage({ id }: { readonly id: string }) {
  const loaded = useCallRecord(id);
  // Names that replace agents' ids later would move everything below them: they are loaded first.
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
      <Shown loaded={shown} missing={<Missing what="call" path={loaded.path} />}>
        {(value) => <Record {...value} onChanged={loaded.reload} />}
      </Shown>
    </Page>
  );
}

function Actions({ call }: { readonly call: CallDetail }) {
  if (isOver(call)) return <DeleteCall callId={call.id} />;
  return <CallControls callId={call.id} isAnswered={call.status === 'in_progress'} />;
}

/** On wide screens the recording and the transcript are next to the facts; on narrow ones the outcome comes first. */
function Record(props: CallRecord & { readonly onChanged: () => void }) {
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

/** @param props.onChanged called when the call's status differs from the loaded one. */
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

interface FactsProps extends CallRecord {
  readonly originMs: number;
}

export function CallFacts({ call, timeline, originMs }: FactsProps) {
  const { extracted, metadata } = call;
  return (
    <>
      <Outcome call={call} />
      {extracted !== null && (
        <Section title={t('call.extracted')}>
          <FactList class="facts" facts={textsOf(extracted)} />
        </Section>
      )}
      <Section title={t('field.details')}>
        <FactList class="facts" facts={factsOf({ call, timeline, originMs })} />
      </Section>
      {Object.keys(metadata).length > 0 && (
        <Section title={t('call.metadata')}>
          <FactList class="facts" facts={textsOf(metadata)} />
        </Section>
      )}
    </>
  );
}

/** Outcome of a call: reason of its failure or its wait, summary, and success; empty where none of them is known. */
function Outcome({ call }: { readonly call: CallDetail }) {
  const { failureReason, summary, success, status } = call;
  if (failureReason === null && summary === null && success === null) return null;
  return (
    <Section title={t('call.summary')}>
      {failureReason !== null && (
        <p class="summary">
          {t(status === 'queued' ? 'call.waitsBecause' : 'call.failedBecause')}{' '}
          <strong>{sentence(failureReason)}</strong>
        </p>
      )}
      {summary !== null && <p class="summary">{summary}</p>}
      {success !== null && (
        <p class="summary">
          {t(success.met ? 'call.successMet' : 'call.successMissed')} {success.reason}
        </p>
      )}
    </Section>
  );
}

type Fact = readonly [name: string, value: ComponentChildren];

/** Facts with their labels; one that is not known yet has no line. */
function factsOf({ call, timeline, originMs }: FactsProps): readonly Fact[] {
  const told = (name: string, group: string, value: string | null): readonly Fact[] =>
    value === null ? [] : [[name, word(group, value)]];
  const others = otherPartiesOf(timeline, originMs);
  const answerCount = timeline.filter(({ kind }) => kind === 'turn').length;
  return [
    [t('field.status'), <State of={call.status} />],
    [t('field.agent'), <AgentLink agentId={call.agentId} />],
    ...told(t('field.direction'), 'direction', call.direction),
    [t('field.from'), <Copied text={call.from} shown={phoneText(call.from)} />],
    [t('field.to'), <Copied text={call.to} shown={phoneText(call.to)} />],
    [t('field.begun'), <Instant at={call.startedAt} />],
    ...(call.endedAt === null
      ? []
      : [[t('field.duration'), clockText(call.durationSeconds)] as const]),
    ...(call.cost === null ? [] : [[t('field.cost'), formats.value.money(call.cost)] as const]),
    [t('field.answers'), formats.value.count(answerCount)],
    ...told(t('field.end'), 'end', call.endReason),
    ...told(t('field.answeredBy'), 'answeredBy', call.answeredBy),
    ...told(t('field.mood'), 'mood', call.sentiment),
    ...told(t('field.intent'), 'intent', call.intentDetected),
    ...(others.length === 0 ? [] : [[t('call.thirdParty'), others.join('; ')] as const]),
    [t('field.id'), <Copied text={call.id} shown={<code>{call.id}</code>} />],
  ];
}

function AgentLink({ agentId }: { readonly agentId: string }) {
  return <a href={`#/agents/${agentId}`}>{useAgents().nameOf(agentId)}</a>;
}

/** A value with a button that copies it. */
function Copied(props: { readonly text: string; readonly shown: ComponentChildren }) {
  const { text, shown } = props;
  return (
    <span class="copied">
      {shown}
      <CopyButton label={t('app.copyText', { text })} text={text} isIcon />
    </span>
  );
}

/** A line a field. */
function textsOf(values: Readonly<Record<string, unknown>>): readonly Fact[] {
  return Object.entries(values).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
}

/**
 * Actions of another party on the call, in words: joined caller and agent, left again, was connected with the caller, hung up
 * so that the agent came back, took the caller's place.
 */
function otherPartiesOf(timeline: readonly TimelineEntry[], originMs: number): readonly string[] {
  return timeline.flatMap(({ kind, timestamp, details }) => {
    const at = clockText((Date.parse(timestamp) - originMs) / 1000);
    if (kind === 'bridge_ended' && details.isCallerBack === true)
      return t('call.callerBack', { at });
    if (kind === 'far_end_transfer') return t('call.farEndTransfer', { at });
    if (kind !== 'transfer' && kind !== 'three_way' && kind !== 'three_way_ended') return [];
    return t(`thirdParty.${kind}`, { at });
  });
}

/** SMS of the call; nothing where none was sent. */
export function Messages({ messages }: Required<Pick<CallDetail, 'messages'>>) {
  if (messages.length === 0) return null;
  return (
    <Section title={t('messages.title')}>
      <Table
        label={t('messages.title')}
        rows={messages}
        columns={{
          instant: ({ createdAt }) => <Instant at={createdAt} />,
          to: ({ to }) => to,
          status: ({ status }) => <State of={status} />,
          text: ({ text }) => text ?? '–',
          details: ['small', ({ reason }) => reason && sentence(reason)],
        }}
      />
    </Section>
  );
}

interface Values {
  /** With commas between them. */
  readonly tags: string;
  readonly note: string;
}

/** The form keeps what is typed while the page follows the call. */
export function CallNote({ call }: { readonly call: CallDetail }) {
  const begun = { tags: call.tags.join(', '), note: call.note ?? '' };
  const form = useForm<Values>(begun, async ({ tags, note }) => {
    await client.api(`api/calls/${encodeURIComponent(call.id)}`, {
      method: 'PATCH',
      body: { tags: entriesOf(tags, ','), note: note.trim() === '' ? null : note },
    });
    say(t('callNote.saved'));
  });
  return (
    <Section title={t('callNote.title')}>
      <Form form={form} label={t('callNote.save')} class="button" needs="editor">
        <TextField {...form.field('tags', 'callNote.tags', 'callNote.tagsHint')} />
        <TextField rows={3} {...form.field('note', 'callNote.note')} />
      </Form>
    </Section>
  );
}
