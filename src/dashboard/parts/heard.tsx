/** What was said and heard on a call that is over: its recording on a time line, and the words that follow it. */
import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { CallDetail, TimelineEntry, TranscriptEntry } from '../api-types.ts';
import { t } from '../app-state.ts';
import { currentEntry, waterfallOf } from '../waterfall.ts';
import { FollowedWords } from './followed-words.tsx';
import { Section } from './page.tsx';
import { SoundLine } from './sound-line.tsx';
import { type Player, usePlayer } from './use-player.ts';
import { Words } from './words.tsx';

interface HeardProps {
  readonly call: CallDetail;
  readonly timeline: readonly TimelineEntry[];
  readonly originMs: number;
}

export function Heard(props: HeardProps) {
  const entries = props.call.transcript ?? [];
  if (props.call.recordingUrl !== null) return <Played {...props} entries={entries} />;
  return (
    <Section title={t('words.label')}>
      <p class="muted">{t('call.noRecording')}</p>
      {entries.length === 0 ? <p class="empty">{t('call.noWords')}</p> : null}
      <Words entries={entries} />
    </Section>
  );
}

function Played(props: HeardProps & { readonly entries: readonly TranscriptEntry[] }) {
  const { call, timeline, originMs, entries } = props;
  const player = usePlayer();
  const turns = useMemo(() => waterfallOf(timeline, originMs), [timeline, originMs]);
  return (
    <>
      <Section title={t('call.recording')}>
        {call.recordingTruncated ? <p class="muted">{t('call.recordingTruncated')}</p> : null}
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript below is what captions would say. */}
        <audio ref={player.element} preload="metadata" src={recordingPath(call)} />
        <SoundLine
          callId={call.id}
          durationSeconds={call.durationSeconds}
          link={recordingPath(call)}
          player={player}
          turns={turns}
        />
      </Section>
      <Section title={t('words.label')}>
        {entries.length === 0 ? (
          <p class="empty">{t('call.noWords')}</p>
        ) : (
          <Followed entries={entries} originMs={originMs} player={player} />
        )}
      </Section>
    </>
  );
}

function Followed(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly originMs: number;
  readonly player: Player;
}) {
  const { entries, originMs, player } = props;
  const startsMs = useMemo(
    () => entries.map(({ timestamp }) => Date.parse(timestamp) - originMs),
    [entries, originMs],
  );
  const current = useComputed(() =>
    player.atMs.value === 0 && !player.isPlaying.value
      ? -1
      : currentEntry(startsMs, player.atMs.value),
  );
  return (
    <FollowedWords
      entries={entries}
      current={current.value}
      onSeek={(index) => {
        player.seek(startsMs[index] ?? 0);
        player.play();
      }}
    />
  );
}

/** The signed link as seen from this page: the server may be reached by another name than its own. */
function recordingPath({ id, recordingUrl }: CallDetail): string {
  const { search } = new URL(recordingUrl ?? '', location.href);
  return `api/calls/${encodeURIComponent(id)}/recording${search}`;
}
