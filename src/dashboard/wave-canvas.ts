/** Draws both sides of a call on a canvas: the caller above, the agent below. */
import { columnsOf, heightOf, type Peaks, type Stretch } from './time-line.ts';

/** Of the canvas, in CSS pixels; each side has half of it. */
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
export function drawWave(canvas: HTMLCanvasElement, wave: Wave, stretch: Stretch): void {
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
