/** One call: what was said and heard, where the time went, and what was told to whom. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { client, language, t } from '../app-state.ts';
import { BROWSER_BOARD } from '../browser-board.ts';
import { clockText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { MeterBoard } from '../meter-board.ts';
import { CallControls } from '../parts/call-controls.tsx';
import { CallEvents } from '../parts/call-events.tsx';
import { Heard } from '../parts/heard.tsx';
import { LevelMeters } from '../parts/level-meters.tsx';
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
  const call = loaded.value?.call;
  const goesOn = call !== undefined && !isOver(call);
  return (
    <Page
      title={call === undefined ? t('call.title') : `${call.from} → ${call.to}`}
      actions={
        <>
          <a class="button" href="#/calls">
            {t('call.back')}
          </a>
          {goesOn ? <CallControls callId={id} isAnswered={call.status === 'in_progress'} /> : null}
        </>
      }
    >
      <Shown loaded={loaded}>{(value) => <Record {...value} onOver={loaded.reload} />}</Shown>
    </Page>
  );
}

function Record(props: Loaded & { readonly onOver: () => void }) {
  const { call, timeline } = props;
  const originMs = useMemo(() => recordingOriginMs(timeline, call.startedAt), [timeline, call]);
  return (
    <>
      <Facts call={call} />
      {isOver(call) ? (
        <Heard call={call} timeline={timeline} originMs={originMs} />
      ) : (
        <LiveWords id={call.id} onOver={props.onOver} />
      )}
      <Section title={t('call.timing')}>
        <Waterfall entries={timeline} originMs={originMs} />
      </Section>
      <ToolTable entries={timeline} originMs={originMs} />
      <Quality key={`quality ${call.status}`} callId={call.id} />
      <SipLadder key={`ladder ${call.status}`} callId={call.id} />
      <CallEvents callId={call.id} />
      <Timeline entries={timeline} originMs={originMs} />
    </>
  );
}

function Facts({ call }: { readonly call: CallDetail }) {
  const agents = useAgents();
  const word = (group: string, value: string | null) =>
    value === null ? '–' : wordOf(language.value, group, value);
  return (
    <section class="card" aria-label={t('call.facts')}>
      {call.summary === null ? null : <p class="summary">{call.summary}</p>}
      <dl class="facts">
        <div>
          <dt>{t('calls.status')}</dt>
          <dd>
            <State of={call.status} />
          </dd>
        </div>
        <div>
          <dt>{t('calls.agent')}</dt>
          <dd>
            <a href={`#/agents/${call.agentId}`}>{agents.nameOf(call.agentId)}</a>
          </dd>
        </div>
        <div>
          <dt>{t('calls.direction')}</dt>
          <dd>{word('direction', call.direction)}</dd>
        </div>
        <div>
          <dt>{t('calls.begun')}</dt>
          <dd>
            <Instant at={call.startedAt} />
          </dd>
        </div>
        <div>
          <dt>{t('calls.duration')}</dt>
          <dd>{call.endedAt === null ? '–' : clockText(call.durationSeconds)}</dd>
        </div>
        <div>
          <dt>{t('calls.end')}</dt>
          <dd>{word('end', call.endReason)}</dd>
        </div>
        <div>
          <dt>{t('calls.mood')}</dt>
          <dd>{word('mood', call.sentiment)}</dd>
        </div>
        <div>
          <dt>{t('call.intent')}</dt>
          <dd>{call.intentDetected ?? '–'}</dd>
        </div>
        <div>
          <dt>{t('call.id')}</dt>
          <dd>
            <code>{call.id}</code>
          </dd>
        </div>
      </dl>
    </section>
  );
}

function LiveWords({ id, onOver }: { readonly id: string; readonly onOver: () => void }) {
  const [board] = useState(() => new MeterBoard(BROWSER_BOARD));
  useEffect(() => () => board.stop(), [board]);
  const { live } = useLive(id, board);
  const call = live.calls.find((one) => one.id === id);
  const over = call !== undefined && isOver(call);
  useEffect(() => {
    if (over) onOver();
  }, [over]);
  return (
    <Section title={t('words.label')}>
      <LevelMeters callId={id} board={board} />
      <Words entries={call?.transcript ?? []} hearing={call?.hearing ?? ''} />
    </Section>
  );
}
