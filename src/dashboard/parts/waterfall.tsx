/** Draws where the time of each turn went: on the call's time line, and turn by turn to scale, with a table of the same. */
import { useRef } from 'preact/hooks';
import type { TimelineEntry } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { answerFigures, SPANS, type TurnBars, tickStepMs, waterfallOf } from '../call/timeline.ts';
import { clockText } from '../format.ts';
import { type Columns, FactList, Scroller, Table } from './page.tsx';
import { useWidth } from './use-width.ts';

/** In pixels, as are all measures of the drawing. */
const LEFT = 50;
const RIGHT = 70;
const ROW = 26;

/** Places where time is read are at least this far apart. */
const TICK_PX_MIN = 110;

export function Waterfall(props: {
  readonly entries: readonly TimelineEntry[];
  readonly originMs: number;
}) {
  const turns = waterfallOf(props.entries, props.originMs);
  if (turns.length === 0) return <p class="empty">{t('timing.none')}</p>;
  return (
    <>
      <AnswerTimes turns={turns} />
      <Legend />
      <Scroller class="chart" label={t('call.timing')}>
        <Bars turns={turns} />
      </Scroller>
      <details>
        <summary>{t('timing.table')}</summary>
        <TurnTable turns={turns} />
      </details>
    </>
  );
}

function AnswerTimes({ turns }: { readonly turns: readonly TurnBars[] }) {
  const figures = answerFigures(turns);
  if (figures === undefined) return null;
  const { ms } = formats.value;
  const { medianMs, worst } = figures;
  const facts = [
    [t('timing.median'), ms(medianMs)],
    [t('timing.worst', { at: clockText(worst.atMs / 1000) }), ms(worst.answerMs)],
  ] as const;
  return <FactList class="figures" facts={facts} />;
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
function Bars({ turns }: { readonly turns: readonly TurnBars[] }) {
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  return (
    <div ref={element}>
      <Drawing turns={turns} width={Math.max(LEFT + RIGHT + TICK_PX_MIN, width)} />
    </div>
  );
}

function Drawing(props: { readonly turns: readonly TurnBars[]; readonly width: number }) {
  const { turns, width } = props;
  const longestMs = Math.max(100, ...turns.map(({ spans }) => spans.at(-1)?.toMs ?? 0));
  const x = (ms: number) => LEFT + (ms / longestMs) * (width - LEFT - RIGHT);
  const height = turns.length * ROW + 24;
  const step = tickStepMs(longestMs, (width - LEFT - RIGHT) / TICK_PX_MIN);
  const ticks = Array.from(
    { length: Math.floor(longestMs / step) + 1 },
    (_, index) => index * step,
  );
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      height={height}
      role="img"
      aria-label={t('timing.label')}
    >
      {ticks.map((ms) => (
        <g key={ms}>
          <line x1={x(ms)} x2={x(ms)} y1="0" y2={height - 20} class="tick" />
          <text x={x(ms)} y={height - 5} class="tick-text">
            {formats.value.ms(ms)}
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
          key={`${name} ${fromMs}`}
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
        {formats.value.ms(endMs)}
      </text>
    </g>
  );
}

function TurnTable({ turns }: { readonly turns: readonly TurnBars[] }) {
  const ms = (value: number | null | undefined) =>
    value == null ? '–' : formats.value.count(Math.round(value));
  const spanColumns = Object.fromEntries(
    SPANS.map(([name]) => {
      const cell = ({ spans }: TurnBars) => {
        const own = spans.filter((one) => one.name === name);
        if (own.length === 0) return ms(null);
        return ms(own.reduce((sumMs, { fromMs, toMs }) => sumMs + toMs - fromMs, 0));
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
