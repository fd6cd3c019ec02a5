/** Recording and transcript of a call that is over: a time line, and the words that follow it. */
import { useComputed } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallDetail, TimelineEntry, TranscriptEntry } from '../api-types.ts';
import { formats, t, word } from '../app-state.ts';
import {
  currentEntry,
  notesOf,
  type TranscriptNotes,
  transcriptText,
  waterfallOf,
} from '../call/timeline.ts';
import { clockText } from '../format.ts';
import { type BoardWorld, MeterBoard } from '../meter-board.ts';
import { CopyButton } from './copy-button.tsx';
import { Button, Section } from './page.tsx';
import { SoundLine } from './sound-line.tsx';
import { type Player, usePlayer } from './use-follow.ts';

interface HeardProps {
  readonly call: CallDetail;
  readonly timeline: readonly TimelineEntry[];
  readonly originMs: number;
}

/** Recording and transcript of a call; nothing where both are empty. */
export function Heard(props: HeardProps) {
  const { call, timeline, originMs } = props;
  const entries = call.transcript ?? [];
  const notes = useMemo(() => notesOf(entries, timeline), [entries, timeline]);
  if (call.recordingUrl !== null) return <Played {...props} entries={entries} notes={notes} />;
  if (entries.length === 0) return null;
  return (
    <Transcript entries={entries}>
      <p class="muted">{t('call.noRecording')}</p>
      <Words entries={entries} notes={notes} originMs={originMs} />
    </Transcript>
  );
}

function Transcript(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly children: ComponentChildren;
}) {
  const { entries, children } = props;
  const text = transcriptText(entries, roleText);
  return (
    <Section
      title={t('words.label')}
      actions={entries.length > 0 && <CopyButton label={t('words.copy')} text={text} />}
    >
      {children}
    </Section>
  );
}

interface WrittenProps {
  readonly entries: readonly TranscriptEntry[];
  readonly notes: TranscriptNotes;
}

function Played(props: HeardProps & WrittenProps) {
  const { call, timeline, originMs, entries, notes } = props;
  const player = usePlayer();
  const turns = useMemo(() => waterfallOf(timeline, originMs), [timeline, originMs]);
  return (
    <>
      <section class="card call-player" aria-label={t('call.recording')}>
        {call.recordingTruncated && <p class="muted">{t('call.recordingTruncated')}</p>}
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript below is what captions would say. */}
        <audio ref={player.element} preload="metadata" src={recordingPath(call)} />
        <SoundLine
          callId={call.id}
          durationSeconds={call.durationSeconds}
          link={recordingPath(call)}
          player={player}
          turns={turns}
        />
      </section>
      <Transcript entries={entries}>
        {entries.length === 0 ? (
          <p class="empty">{t('call.noWords')}</p>
        ) : (
          <Followed entries={entries} notes={notes} originMs={originMs} player={player} />
        )}
      </Transcript>
    </>
  );
}

/** Share of the box that stays above the entry. */
const ABOVE = 0.3;

/** The transcript in a box that scrolls along with playback, unless the reader has scrolled away. */
function Followed(props: WrittenProps & { readonly originMs: number; readonly player: Player }) {
  const { entries, notes, originMs, player } = props;
  const startsMs = useMemo(
    () => entries.map(({ timestamp }) => Date.parse(timestamp) - originMs),
    [entries, originMs],
  );
  const { value: current } = useComputed(() =>
    player.atMs.value === 0 && !player.isPlaying.value
      ? -1
      : currentEntry(startsMs, player.atMs.value),
  );
  const box = useRef<HTMLDivElement>(null);
  /** Scroll position that the page has set: any other one is the reader's doing. */
  const ownTop = useRef(0);
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    const element = box.current;
    const entry = element?.querySelector<HTMLElement>('[aria-current]') ?? null;
    if (element === null || entry === null || !isFollowing) return;
    element.scrollTop = entry.offsetTop - element.clientHeight * ABOVE;
    ownTop.current = element.scrollTop;
  }, [current, isFollowing]);
  const look = () => {
    if (Math.abs((box.current?.scrollTop ?? 0) - ownTop.current) > 2) setFollowing(false);
  };
  const seek = (index: number) => {
    setFollowing(true);
    player.seek(startsMs[index] ?? 0);
    player.play();
  };
  const label = t('words.label');
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div class="followed" role="group" ref={box} tabIndex={0} aria-label={label} onScroll={look}>
        <Words {...{ entries, notes, originMs, current }} onSeek={seek} />
      </div>
      {!isFollowing && current !== -1 && (
        <Button text={t('words.follow')} onClick={() => setFollowing(true)} />
      )}
    </>
  );
}

/** The signed link as seen from this page: the server may be reached by another name than its own. */
function recordingPath({ id, recordingUrl }: CallDetail): string {
  const { search } = new URL(recordingUrl ?? '', location.href);
  return `api/calls/${encodeURIComponent(id)}/recording${search}`;
}

/** Transcript of a call, word for word, with the interim result in grey. */
export function Words(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly hearing?: string;
  /** Which entry is being heard; -1 for none. */
  readonly current?: number;
  /** Makes the times buttons that go to the place in the recording. */
  readonly onSeek?: ((index: number) => void) | undefined;
  readonly notes?: TranscriptNotes;
  /** Unix milliseconds from which times are counted; without it they are times of the day. */
  readonly originMs?: number;
}) {
  const { entries, hearing = '', current = -1, onSeek, notes, originMs } = props;
  return (
    <ol class="words">
      {entries.map((entry, index) => (
        // By its time: the oldest entries of a live call are left out as new ones come.
        <Fragment key={`${entry.timestamp} ${entry.role}`}>
          <Happened events={notes?.events.get(index)} />
          <SaidOnce
            entry={entry}
            isCurrent={index === current}
            onSeek={onSeek && (() => onSeek(index))}
            answerMs={notes?.answersMs.get(index)}
            originMs={originMs}
          />
        </Fragment>
      ))}
      <Happened events={notes?.events.get(entries.length)} />
      {hearing !== '' && (
        <li class="said said-user hearing">
          <span class="who">{roleText('user')}</span>
          <span class="text">{hearing}…</span>
        </li>
      )}
    </ol>
  );
}

function roleText(role: TranscriptEntry['role']): string {
  return t(role === 'agent' ? 'field.agent' : 'words.caller');
}

/** Events between two entries, such as a tool or a barge-in. */
function Happened({ events = [] }: { readonly events?: readonly TimelineEntry[] | undefined }) {
  return (
    <>
      {events.map((event) => (
        <li key={`${event.timestamp} ${event.kind}`} class="happened">
          {happenedText(event)}
        </li>
      ))}
    </>
  );
}

function happenedText({ kind, details }: TimelineEntry): string {
  if (kind !== 'tool') return word('event', kind);
  return t('words.tool', {
    tool: word('tool', String(details.name)),
    outcome: word('outcome', String(details.outcome)),
    time: formats.value.ms(Number(details.tookMs)),
  });
}

interface SaidProps {
  readonly entry: TranscriptEntry;
  readonly isCurrent: boolean;
  readonly onSeek: (() => void) | undefined;
  /** From the caller's last word to this answer. */
  readonly answerMs: number | undefined;
  readonly originMs: number | undefined;
}

/** Renders only after a change: a live call has many entries, and a new one each few seconds. */
function SaidOnce(props: SaidProps) {
  const { entry, isCurrent, onSeek, answerMs, originMs } = props;
  return useMemo(() => <Said {...props} />, [entry, isCurrent, onSeek, answerMs, originMs]);
}

function Said(props: SaidProps) {
  const { entry, isCurrent } = props;
  return (
    <li class={`said said-${entry.role}`} aria-current={isCurrent ? 'true' : undefined}>
      <span class="who">{roleText(entry.role)}</span>
      <span class="text">{entry.text}</span>
      <Moment {...props} />
    </li>
  );
}

function Moment({ entry, onSeek, answerMs, originMs }: SaidProps) {
  const { time, percent, seconds } = formats.value;
  const { timestamp, confidence } = entry;
  const at =
    originMs === undefined ? time(timestamp) : clockText((Date.parse(timestamp) - originMs) / 1000);
  const text = [
    at,
    ...(answerMs === undefined ? [] : [t('words.answeredAfter', { time: seconds(answerMs) })]),
    ...(confidence === undefined ? [] : [t('words.sure', { share: percent(confidence) })]),
  ].join(' · ');
  if (onSeek === undefined) return <span class="when">{text}</span>;
  return (
    <button type="button" class="when quiet" onClick={onSeek} title={t('words.seek')}>
      {text}
    </button>
  );
}

/** Environment of the meters in this browser. */
const BROWSER: BoardWorld = {
  nowMs: () => performance.now(),
  nextFrame: (step) => {
    const frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  },
  wantsCalm: () => matchMedia('(prefers-reduced-motion: reduce)').matches,
};

/** The board of a page's meters, as long as the page is there. */
export function useMeterBoard(): MeterBoard {
  const [board] = useState(() => new MeterBoard(BROWSER));
  useEffect(() => () => board.stop(), [board]);
  return board;
}

/** How loud both sides of a live call are. @param props.board moves the meters; without one they rest. */
export function LevelMeters(props: {
  readonly callId: string;
  readonly board: MeterBoard | undefined;
}) {
  const { callId, board } = props;
  const [caller, agent] = [useRef<HTMLSpanElement>(null), useRef<HTMLSpanElement>(null)];
  useEffect(
    () => board?.attach(callId, { caller: caller.current, agent: agent.current }),
    [callId, board],
  );
  // Hidden from screen readers, which would read the levels out four times a second.
  return (
    <div class="meters" aria-hidden="true">
      <span>{t('words.caller')}</span>
      <span class="meter">
        <span class="meter-fill" ref={caller} />
      </span>
      <span>{t('field.agent')}</span>
      <span class="meter meter-agent">
        <span class="meter-fill" ref={agent} />
      </span>
    </div>
  );
}
