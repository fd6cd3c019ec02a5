/** What was said and heard on a call that is over: its recording on a time line, and the words that follow it. */
import { useComputed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallDetail, TimelineEntry, TranscriptEntry } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { type BoardWorld, MeterBoard } from '../meter-board.ts';
import { currentEntry, waterfallOf } from '../waterfall.ts';
import { Button, Section } from './page.tsx';
import { SoundLine } from './sound-line.tsx';
import { type Player, usePlayer } from './use-follow.ts';

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
      {entries.length === 0 && <p class="empty">{t('call.noWords')}</p>}
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

/** Of the box, that stays above the entry. */
const ABOVE = 0.3;

/** The transcript in a box that scrolls along with what is being heard, unless the reader has scrolled away. */
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
  const { value: current } = useComputed(() =>
    player.atMs.value === 0 && !player.isPlaying.value
      ? -1
      : currentEntry(startsMs, player.atMs.value),
  );
  const box = useRef<HTMLDivElement>(null);
  /** Where we have scrolled to ourselves: any other place is the reader's doing. */
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
        <Words entries={entries} current={current} onSeek={seek} />
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

/** What was said on a call, word for word, with what is being heard in grey. */
export function Words(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly hearing?: string;
  /** Which entry is being heard; -1 for none. */
  readonly current?: number;
  /** Makes the times buttons that go to the place in the recording. */
  readonly onSeek?: ((index: number) => void) | undefined;
}) {
  const { entries, hearing = '', current = -1, onSeek } = props;
  return (
    <ol class="words">
      {entries.map((entry, index) => (
        // By its time: the oldest entries of a live call are left out as new ones come.
        <SaidOnce
          key={`${entry.timestamp} ${entry.role}`}
          entry={entry}
          isCurrent={index === current}
          onSeek={onSeek && (() => onSeek(index))}
        />
      ))}
      {hearing !== '' && (
        <li class="said said-user hearing">
          <span class="who">{t('words.caller')}</span>
          <span class="text">{hearing}…</span>
        </li>
      )}
    </ol>
  );
}

interface SaidProps {
  readonly entry: TranscriptEntry;
  readonly isCurrent: boolean;
  readonly onSeek: (() => void) | undefined;
}

/** Renders only after a change: a live call has many entries, and a new one each few seconds. */
function SaidOnce({ entry, isCurrent, onSeek }: SaidProps) {
  return useMemo(() => <Said {...{ entry, isCurrent, onSeek }} />, [entry, isCurrent, onSeek]);
}

function Said({ entry, isCurrent, onSeek }: SaidProps) {
  return (
    <li class={`said said-${entry.role}`} aria-current={isCurrent ? 'true' : undefined}>
      <span class="who">{t(entry.role === 'agent' ? 'field.agent' : 'words.caller')}</span>
      <span class="text">{entry.text}</span>
      <Moment entry={entry} onSeek={onSeek} />
    </li>
  );
}

function Moment({ entry, onSeek }: Pick<SaidProps, 'entry' | 'onSeek'>) {
  const sure =
    entry.confidence === undefined ? '' : ` · ${formats.value.percent(entry.confidence)}`;
  const text = `${formats.value.time(entry.timestamp)}${sure}`;
  if (onSeek === undefined) return <span class="when">{text}</span>;
  return (
    <button type="button" class="when quiet" onClick={onSeek} title={t('words.seek')}>
      {text}
    </button>
  );
}

/** Where the meters of a page are: in this browser. */
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
  // For the eye alone: who listens to the page would be told of it four times a second.
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
