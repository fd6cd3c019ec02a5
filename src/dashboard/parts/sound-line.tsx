/** A recording on a time line: its sound, the turns below it, the playhead, and the controls. */
import { useComputed, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RecordingPeaks } from '../api-types.ts';
import { formats, shownTheme, t } from '../app-state.ts';
import type { TurnBars } from '../call/timeline.ts';
import { clockText } from '../format.ts';
import {
  columnsOf,
  deedOf,
  heightOf,
  moved,
  msAt,
  type Peaks,
  pointsFor,
  type Stretch,
  shareAt,
  showing,
  shown,
  ticksOf,
  wholeOf,
  zoomed,
} from '../time-line.ts';
import { SelectField } from './field.tsx';
import { Button, Problem } from './page.tsx';
import type { Player } from './use-follow.ts';
import { useApi } from './use-load.ts';
import { useWidth } from './use-width.ts';

const RATES = ['0.75', '1', '1.25', '1.5', '2'] as const;

export function SoundLine(props: {
  readonly callId: string;
  /** How long the call was, as it is on record: the recording may be a little longer. */
  readonly durationSeconds: number;
  /** Link to the recording as a file. */
  readonly link: string;
  readonly player: Player;
  readonly turns: readonly TurnBars[];
}) {
  const { callId, player, turns } = props;
  const { value: outline, error } = useApi<RecordingPeaks>(`api/calls/${callId}/recording/peaks`, {
    points: pointsFor(props.durationSeconds * 1000),
  });
  const [chosen, setChosen] = useState<Stretch | undefined>(undefined);
  const durationMs = outline?.durationMs ?? player.durationMs.value;
  const stretch = chosen ?? wholeOf(durationMs);
  const zoom = (factor: number) => {
    setChosen(zoomed(stretch, durationMs, { factor, aroundMs: middleOf(stretch, player) }));
  };
  const line = { stretch, durationMs, player };
  return (
    <>
      <Problem error={error} />
      <div class="time-line">
        <Ruler stretch={stretch} />
        <Waves {...line} outline={outline} onZoom={zoom} />
        <TurnLane stretch={stretch} turns={turns} />
        <Playhead {...line} onLeft={(atMs) => setChosen(showing(stretch, durationMs, atMs))} />
      </div>
      <Buttons
        {...line}
        link={props.link}
        onZoom={zoom}
        onMove={(share) =>
          setChosen(moved(stretch, durationMs, share * (stretch.toMs - stretch.fromMs)))
        }
        onWhole={() => setChosen(undefined)}
      />
    </>
  );
}

/** Centre of a zoom: the place being heard, or the middle where that is out of sight. */
function middleOf(stretch: Stretch, { atMs }: Player): number {
  const share = shareAt(stretch, atMs.peek());
  return share >= 0 && share <= 1 ? atMs.peek() : msAt(stretch, 0.5);
}

function Buttons(props: {
  readonly stretch: Stretch;
  readonly durationMs: number;
  readonly player: Player;
  readonly link: string;
  readonly onZoom: (factor: number) => void;
  readonly onMove: (share: number) => void;
  readonly onWhole: () => void;
}) {
  const { stretch, durationMs, player } = props;
  const isWhole = stretch.toMs - stretch.fromMs >= wholeOf(durationMs).toMs;
  return (
    <div class="player">
      <Button
        class="main"
        text={t(player.isPlaying.value ? 'player.pause' : 'player.play')}
        onClick={player.toggle}
      />
      <Clock player={player} durationMs={durationMs} />
      <fieldset class="player-zoom">
        <legend class="unseen">{t('player.zoom')}</legend>
        <Button
          text="◀"
          aria-label={t('player.earlier')}
          disabled={isWhole}
          onClick={() => props.onMove(-0.5)}
        />
        <Button text="+" aria-label={t('player.nearer')} onClick={() => props.onZoom(2)} />
        <Button
          text="−"
          aria-label={t('player.further')}
          disabled={isWhole}
          onClick={() => props.onZoom(0.5)}
        />
        <Button
          text="▶"
          aria-label={t('player.later')}
          disabled={isWhole}
          onClick={() => props.onMove(0.5)}
        />
        <Button text={t('player.whole')} disabled={isWhole} onClick={props.onWhole} />
      </fieldset>
      <Rate player={player} />
      <a class="button" href={props.link} download>
        {t('player.save')}
      </a>
    </div>
  );
}

function Rate({ player }: { readonly player: Player }) {
  const [rate, setRate] = useState('1');
  return (
    <SelectField
      label={t('player.rate')}
      value={rate}
      options={RATES.map((value) => [value, `${value}×`])}
      onValue={(value) => {
        setRate(value);
        player.setRate(Number(value));
      }}
    />
  );
}

/** A component of its own, so that moving the playhead renders nothing else. */
function Clock({ player, durationMs }: { readonly player: Player; readonly durationMs: number }) {
  const at = useComputed(() => clockText(player.atMs.value / 1000));
  return (
    <span class="number">
      {at.value} / {clockText(durationMs / 1000)}
    </span>
  );
}

/** Further than sound goes from one frame to the next: somebody has moved it. */
const JUMP_MS = 1000;

/** The line that shows where a recording is being heard. */
function Playhead(props: {
  readonly stretch: Stretch;
  readonly player: Player;
  /** Called when playback leaves the stretch, or is moved out of it; not when the reader looks at another one. */
  readonly onLeft: (atMs: number) => void;
}) {
  const line = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const last = useRef({ atMs: 0, isInside: true });
  const place = (atMs: number) => {
    const share = shareAt(latest.current.stretch, atMs);
    const isInside = share >= 0 && share <= 1;
    last.current = { atMs, isInside };
    if (line.current === null) return;
    line.current.hidden = !isInside;
    // A transform moves it without a new layout.
    line.current.style.transform = `translateX(${(share * 100).toFixed(3)}%)`;
  };
  useSignalEffect(() => {
    const atMs = props.player.atMs.value;
    const before = last.current;
    place(atMs);
    const hasMoved = before.isInside || Math.abs(atMs - before.atMs) > JUMP_MS;
    if (hasMoved && !last.current.isInside) latest.current.onLeft(atMs);
  });
  useEffect(() => place(props.player.atMs.peek()), [props.stretch.fromMs, props.stretch.toMs]);
  return <div class="playhead" ref={line} aria-hidden="true" />;
}

const TICKS = 8;

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

/** Ruler and latency of each turn, on the time line of the sound. */
function Ruler({ stretch }: { readonly stretch: Stretch }) {
  return (
    <svg class="ruler" aria-hidden="true">
      {ticksOf(stretch, TICKS).map(({ atMs, text }) => {
        const share = shareAt(stretch, atMs);
        const x = percent(share);
        return (
          <g key={atMs}>
            <line x1={x} x2={x} y1="14" y2="20" class="tick" />
            <text x={x} y="11" class={edgeOf(share)}>
              {text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Aligns a text at an edge, so that it is not cut off. */
function edgeOf(share: number): string {
  if (share < 0.03) return 'tick-text tick-first';
  return share > 0.97 ? 'tick-text tick-last' : 'tick-text';
}

/** Places are shares of the width, which is the canvas's: both have the same parent, and no margin. */
function TurnLane(props: { readonly stretch: Stretch; readonly turns: readonly TurnBars[] }) {
  if (props.turns.length === 0) return null;
  return (
    <svg class="turn-lane" role="img" aria-label={t('timing.onLine')}>
      {props.turns.map((turn) => (
        <TurnOnLine key={turn.turn} turn={turn} stretch={props.stretch} />
      ))}
    </svg>
  );
}

function TurnOnLine({ turn, stretch }: { readonly turn: TurnBars; readonly stretch: Stretch }) {
  return (
    <g>
      {turn.spans.map(({ name, color, fromMs, toMs }) => {
        const part = shown(stretch, { fromMs: turn.atMs + fromMs, toMs: turn.atMs + toMs });
        if (part === undefined) return null;
        const text = `${clockText(turn.atMs / 1000)} · ${t(`field.${name}`)}: ${formats.value.count(toMs - fromMs)} ms`;
        return (
          <rect
            key={name}
            x={percent(part.from)}
            width={percent(part.to - part.from)}
            y="4"
            height="16"
            fill={color}
          >
            <title>{text}</title>
          </rect>
        );
      })}
    </g>
  );
}

/** The sound of both sides, drawn; a slider too, by pointer and by keyboard. */
function Waves(props: {
  readonly stretch: Stretch;
  readonly durationMs: number;
  readonly player: Player;
  readonly outline: RecordingPeaks | undefined;
  readonly onZoom: (factor: number) => void;
}) {
  const { stretch, durationMs, player, outline } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const looks = useLooks(canvas);
  // A slider that is read out needs no more than seconds.
  const seconds = useComputed(() => Math.floor(Math.min(player.atMs.value, durationMs) / 1000));
  useLayoutEffect(() => {
    if (canvas.current === null || outline === undefined) return;
    drawWave(canvas.current, { ...outline.peaks, durationMs: outline.durationMs }, stretch);
  }, [outline, stretch.fromMs, stretch.toMs, looks]);
  const seekTo = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    player.seek(Math.min(durationMs, msAt(stretch, share)));
  };
  const press = (event: KeyboardEvent) => {
    const deed = deedOf(event, player.atMs.peek(), durationMs);
    if (deed === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (deed.kind === 'seek') player.seek(deed.atMs);
    else if (deed.kind === 'zoom') props.onZoom(deed.factor);
    else player.toggle();
  };
  return (
    <div
      class="waves"
      role="slider"
      tabIndex={0}
      aria-label={t('player.position')}
      aria-valuemin={0}
      aria-valuemax={Math.floor(durationMs / 1000)}
      aria-valuenow={seconds.value}
      aria-valuetext={`${clockText(seconds.value)} / ${clockText(durationMs / 1000)}`}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
      }}
    >
      <canvas ref={canvas} />
      <span class="track-name">{t('words.caller')}</span>
      <span class="track-name track-name-agent">{t('field.agent')}</span>
    </div>
  );
}

/** Changes when the canvas must be redrawn: width, pixel ratio, theme. */
function useLooks(canvas: { readonly current: HTMLCanvasElement | null }): string {
  return `${useWidth(canvas)} ${devicePixelRatio} ${shownTheme.value}`;
}

/** Height of the canvas, in CSS pixels; each side has half of it. */
const WAVE_HEIGHT = 128;

/** A bar and the gap after it, in CSS pixels. */
const COLUMN = 3;
const BAR = 2;

/** Silence is a line, so that it is seen to be there. */
const BAR_HEIGHT_MIN = 1;

const PAD = 4;

interface Wave {
  readonly caller: Peaks;
  readonly agent: Peaks;
  readonly durationMs: number;
}

/** Fills the canvas at its present width, as sharp as the screen is, in the colours of the present theme. */
function drawWave(canvas: HTMLCanvasElement, wave: Wave, stretch: Stretch): void {
  const width = canvas.clientWidth;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(WAVE_HEIGHT * ratio);
  const pen = canvas.getContext('2d');
  if (pen === null || width === 0) return;
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const half = WAVE_HEIGHT / 2;
  const sides = [
    { peaks: wave.caller, color: style.getPropertyValue('--control'), middle: half / 2 },
    { peaks: wave.agent, color: style.getPropertyValue('--accent'), middle: half + half / 2 },
  ];
  pen.fillStyle = style.getPropertyValue('--line');
  pen.fillRect(0, half, width, 1);
  for (const { peaks, color, middle } of sides) {
    pen.fillStyle = color;
    const columns = columnsOf(peaks, wave.durationMs, stretch, Math.floor(width / COLUMN));
    columns.forEach((peak, column) => {
      const height = Math.max(BAR_HEIGHT_MIN, heightOf(peak) * (half - 2 * PAD));
      pen.fillRect(column * COLUMN, middle - height / 2, BAR, height);
    });
  }
}
