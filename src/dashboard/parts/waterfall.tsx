/** Draws where the time of each turn went: on the call's time line, and turn by turn to scale, with a table of the same. */
import type { TimelineEntry } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { SPANS, type TurnBars, tickStepMs, waterfallOf } from '../waterfall.ts';
import { type Columns, Scroller, Table } from './page.tsx';

/** In units of the drawing, which is as wide as its place. */
const WIDTH = 1000;
const NARROW_WIDTH = 420;
const LEFT = 74;
const ROW = 26;

export function Waterfall(props: {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
  /** In a pane at the side of a page. */
  readonly isNarrow?: boolean;
}) {
  const turns = waterfallOf(props.entries, props.originMs);
  const width = props.isNarrow ? NARROW_WIDTH : WIDTH;
  if (turns.length === 0) return <p class="empty">{t('timing.none')}</p>;
  return (
    <>
      <Legend />
      <Scroller class="chart" label={t('call.timing')}>
        <Bars turns={turns} width={width} />
      </Scroller>
      <details>
        <summary>{t('timing.table')}</summary>
        <TurnTable turns={turns} />
      </details>
    </>
  );
}

function Legend() {
  return (
    <ul class="legend">
      {SPANS.map(([name, color]) => (
        <li key={name}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" rx="2" fill={color} />
          </svg>
          {t(`field.${name}`)}
        </li>
      ))}
    </ul>
  );
}

/** Each turn is a row that begins with the caller's last word; the place in the call stands before it. */
function Bars(props: { readonly turns: readonly TurnBars[]; readonly width: number }) {
  const { turns, width } = props;
  const longestMs = Math.max(100, ...turns.map(({ spans }) => spans.at(-1)?.toMs ?? 0));
  const x = (ms: number) => LEFT + (ms / longestMs) * (width - LEFT - 70);
  const height = turns.length * ROW + 24;
  const step = tickStepMs(longestMs, width / 160);
  const ticks = Array.from(
    { length: Math.floor(longestMs / step) + 1 },
    (_, index) => index * step,
  );
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t('timing.label')}>
      {ticks.map((ms) => (
        <g key={ms}>
          <line x1={x(ms)} x2={x(ms)} y1="0" y2={height - 20} class="tick" />
          <text x={x(ms)} y={height - 5} class="tick-text">
            {formats.value.count(ms)} ms
          </text>
        </g>
      ))}
      {turns.map((turn, index) => (
        <TurnRow key={turn.turn} turn={turn} y={index * ROW} x={x} />
      ))}
    </svg>
  );
}

function TurnRow(props: {
  readonly turn: TurnBars;
  readonly y: number;
  readonly x: (ms: number) => number;
}) {
  const { turn, y, x } = props;
  const endMs = turn.spans.at(-1)?.toMs ?? 0;
  return (
    <g>
      <text x="0" y={y + 17} class="turn-at">
        {clockText(turn.atMs / 1000)}
      </text>
      {turn.spans.map(({ name, color, fromMs, toMs }) => (
        <rect
          key={name}
          x={x(fromMs)}
          y={y + 4}
          width={Math.max(1, x(toMs) - x(fromMs) - 1)}
          height={ROW - 8}
          fill={color}
        >
          <title>{`${t(`field.${name}`)}: ${formats.value.count(toMs - fromMs)} ms`}</title>
        </rect>
      ))}
      <text x={x(endMs) + 6} y={y + 17} class="turn-total">
        {`${formats.value.count(Math.round(endMs))} ms`}
      </text>
    </g>
  );
}

function TurnTable({ turns }: { readonly turns: readonly TurnBars[] }) {
  const ms = (value: number | null | undefined) =>
    value == null ? '–' : formats.value.count(Math.round(value));
  const spanColumns = Object.fromEntries(
    SPANS.map(([name]) => {
      const spanOf = ({ spans }: TurnBars) => spans.find((one) => one.name === name);
      const cell = (turn: TurnBars) => {
        const span = spanOf(turn);
        return ms(span && span.toMs - span.fromMs);
      };
      return [name, ['number', cell]];
    }),
  ) as Columns<TurnBars>;
  return (
    <Table
      label={t('timing.table')}
      rows={turns}
      columns={{
        turn: ({ turn }) => turn,
        at: ['number', ({ atMs }) => clockText(atMs / 1000)],
        ...spanColumns,
        answerAfter: ['number', ({ answerMs }) => ms(answerMs)],
        silentAfter: ['number', ({ bargeInMs }) => ms(bargeInMs)],
      }}
    />
  );
}
