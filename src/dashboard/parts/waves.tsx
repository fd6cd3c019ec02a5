/** The sound of both sides, drawn; a slider too, by pointer and by keyboard. */
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t, theme } from '../app-state.ts';
import type { RecordingPeaks } from '../call-types.ts';
import { clockText } from '../format.ts';
import { deedOf } from '../seek-keys.ts';
import { msAt, type Stretch } from '../time-line.ts';
import { drawWave } from '../wave-canvas.ts';
import type { Player } from './use-player.ts';

export function Waves(props: {
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
      <span class="track-name track-name-agent">{t('words.agent')}</span>
    </div>
  );
}

/** Changes whenever the canvas has to be drawn anew: its width, the screen's sharpness, the theme. */
function useLooks(canvas: { readonly current: HTMLCanvasElement | null }): string {
  const [size, setSize] = useState('');
  const [isDark, setDark] = useState(false);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const measure = () => setSize(`${element.clientWidth} ${devicePixelRatio}`);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const look = () => setDark(dark.matches);
    look();
    dark.addEventListener('change', look);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', look);
    };
  }, []);
  return `${size} ${isDark} ${theme.value}`;
}
