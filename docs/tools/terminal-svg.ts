/** A recorded terminal as an SVG: each line appears when it was printed, and stays; pure */

/** A line of a recording. */
export interface RecordedLine {
  readonly text: string;
  /** From the start of the recording. */
  readonly atMs: number;
}

const COLUMNS = 104;
const CHAR_PX = 7.8;
const LINE_PX = 19;
const MARGIN_PX = 18;
const BAR_PX = 30;

/** Time for which the end is shown before the recording begins again. */
const REST_MS = 8_000;

/** First word of a line to its class. */
const CLASSES: Readonly<Record<string, string>> = { $: 'prompt', caller: 'caller', agent: 'agent' };

/** @param speed times as fast as it was */
export function terminalSvg(title: string, lines: readonly RecordedLine[], speed: number): string {
  const shown = lines.flatMap(folded);
  const [width, height] = [
    Math.ceil(COLUMNS * CHAR_PX) + 2 * MARGIN_PX,
    BAR_PX + shown.length * LINE_PX + MARGIN_PX,
  ];
  const lastMs = shown.at(-1)?.atMs ?? 0;
  const totalMs = lastMs / speed + REST_MS;
  const rows = shown.map(({ text, atMs }, index) => {
    const y = BAR_PX + (index + 1) * LINE_PX;
    const kind = CLASSES[text.split(' ')[0] ?? ''] ?? 'note';
    return `<text class="${kind} t${keyOf(atMs, lastMs)}" x="${MARGIN_PX}" y="${y}">${escaped(text)}</text>`;
  });
  const keys = [...new Set(shown.map(({ atMs }) => keyOf(atMs, lastMs)))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${styleOf(keys, totalMs, lastMs / speed)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#11181a"/>`,
    ...[0, 1, 2].map((n) => `<circle cx="${20 + n * 18}" cy="15" r="5" fill="#3b4a4f"/>`),
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

/** Lines that appear together share an animation: a hundredth of the recording each. */
function keyOf(atMs: number, lastMs: number): number {
  return lastMs === 0 ? 0 : Math.round((atMs / lastMs) * 100);
}

function styleOf(keys: readonly number[], totalMs: number, playedMs: number): string {
  const share = playedMs / totalMs;
  const frames = keys.map((key) => {
    const percent = (key * share).toFixed(2);
    return `@keyframes k${key}{0%{opacity:0}${percent}%{opacity:0}${(Number(percent) + 0.01).toFixed(2)}%{opacity:1}100%{opacity:1}}.t${key}{animation-name:k${key}}`;
  });
  return [
    'text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#9fb0b4}',
    '.prompt{fill:#e4ebec}.caller{fill:#7cc7ff}.agent{fill:#7ee0a1}',
    `text{animation-duration:${(totalMs / 1000).toFixed(1)}s;animation-iteration-count:infinite;animation-timing-function:step-end}`,
    ...frames,
    '@media (prefers-reduced-motion:reduce){text{animation:none}}',
  ].join('');
}

/** A line as the terminal wraps it. */
function folded({ text, atMs }: RecordedLine): readonly RecordedLine[] {
  const parts = text.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [''];
  return parts.map((part) => ({ text: part, atMs }));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
