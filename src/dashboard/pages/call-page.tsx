/** One call: what was said and heard, where the time went, and what was told to whom. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { client, language, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { isOver } from '../live-state.ts';
import { CallEvents } from '../parts/call-events.tsx';
import { HangUp } from '../parts/hang-up.tsx';
import { Instant, Page, Section, Shown, State } from '../parts/page.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { useAgents } from '../parts/use-agents.ts';
import { useLive } from '../parts/use-live.ts';
import { useLoad } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { Words } from '../parts/words.tsx';
import { wordOf } from '../text/text.ts';
import { currentEntry } from '../waterfall.ts';

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
          {goesOn ? <HangUp callId={id} /> : null}
        </>
      }
    >
      <Shown loaded={loaded}>
        {(value) => (
          <>
            <Facts call={value.call} />
            {goesOn ? <LiveWords id={id} onOver={loaded.reload} /> : <Heard {...value} />}
            <Section title={t('call.timing')}>
              <Waterfall entries={value.timeline} originMs={originOf(value)} />
            </Section>
            <CallEvents callId={id} />
            <Timeline entries={value.timeline} originMs={originOf(value)} />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** The recording begins with the answer. */
function originOf({ call, timeline }: Loaded): number {
  const answered = timeline.find(({ kind }) => kind === 'answered')?.timestamp;
  return Date.parse(answered ?? call.startedAt ?? new Date(0).toISOString());
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
          <dd>{clockText(call.durationSeconds)}</dd>
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
  const { live } = useLive(id);
  const call = live.calls.find((one) => one.id === id);
  const over = call !== undefined && isOver(call);
  useEffect(() => {
    if (over) onOver();
  }, [over]);
  return (
    <Section title={t('words.label')}>
      <Words entries={call?.transcript ?? []} hearing={call?.hearing ?? ''} />
    </Section>
  );
}

/** The transcript follows the recording, and each of its times goes to its place there. */
function Heard(value: Loaded) {
  const { call } = value;
  const player = useRef<HTMLAudioElement>(null);
  const [current, setCurrent] = useState(-1);
  const entries = call.transcript ?? [];
  const startsMs = entries.map(({ timestamp }) => Date.parse(timestamp) - originOf(value));
  const follow = () => {
    const at = player.current;
    setCurrent(at === null || at.paused ? -1 : currentEntry(startsMs, at.currentTime * 1000));
  };
  const seek = (index: number) => {
    const at = player.current;
    if (at === null) return;
    at.currentTime = Math.max(0, (startsMs[index] ?? 0) / 1000);
    at.play().catch(() => undefined);
  };
  const hasRecording = call.recordingUrl !== null;
  return (
    <Section title={t('words.label')}>
      {hasRecording ? (
        // biome-ignore lint/a11y/useMediaCaption: the transcript below is what captions would say.
        <audio
          ref={player}
          controls
          preload="metadata"
          src={recordingPath(call)}
          onTimeUpdate={follow}
          onPause={follow}
          aria-label={t('call.recording')}
        />
      ) : (
        <p class="muted">{t('call.noRecording')}</p>
      )}
      {entries.length === 0 ? <p class="empty">{t('call.noWords')}</p> : null}
      <Words entries={entries} current={current} onSeek={hasRecording ? seek : undefined} />
    </Section>
  );
}

/** The signed link as seen from this page: the server may be reached by another name than its own. */
function recordingPath({ id, recordingUrl }: CallDetail): string {
  const { search } = new URL(recordingUrl ?? '', location.href);
  return `api/calls/${encodeURIComponent(id)}/recording${search}`;
}
