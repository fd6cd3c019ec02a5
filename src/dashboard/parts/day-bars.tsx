/** Calls a day as bars, with the same figures as a table. */
import type { Analytics } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { Scroller, Table } from './page.tsx';

type Days = Analytics['dailyBreakdown'];

const WIDTH = 1000;
const HEIGHT = 180;
const FOOT = 24;

/** More names of days than this would run into each other. */
const NAMES_MAX = 8;

export function DayBars({ days }: { readonly days: Days }) {
  return (
    <>
      <Scroller class="chart" label={t('analytics.days')}>
        <Bars days={days} />
      </Scroller>
      <details>
        <summary>{t('analytics.table')}</summary>
        <DayTable days={days} />
      </details>
    </>
  );
}

function Bars({ days }: { readonly days: Days }) {
  const { count, day } = formats.value;
  const most = Math.max(0, ...days.map(({ calls }) => calls));
  const step = WIDTH / Math.max(1, days.length);
  const every = Math.ceil(days.length / NAMES_MAX);
  const heightOf = (calls: number) => (calls / Math.max(1, most)) * (HEIGHT - FOOT - 18);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t('analytics.chart')}>
      <line x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} class="tick" />
      <text x="0" y="12" class="tick-text tick-first">
        {t('analytics.most', { calls: count(most) })}
      </text>
      {days.map(({ date, calls }, index) => (
        <g key={date}>
          <rect
            x={index * step + step * 0.1}
            y={HEIGHT - FOOT - heightOf(calls)}
            width={Math.min(step * 0.8, 80)}
            height={heightOf(calls)}
            rx="2"
            class="bar"
          >
            <title>{`${day(date)}: ${count(calls)}`}</title>
          </rect>
          {index % every === 0 && (
            <text x={index * step + step * 0.1} y={HEIGHT - 6} class="tick-text tick-first">
              {day(date)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

function DayTable({ days }: { readonly days: Days }) {
  const { count, day, decimal } = formats.value;
  return (
    <Table
      label={t('analytics.table')}
      rows={days}
      columns={{
        day: ({ date }) => day(date),
        calls: ['number', ({ calls }) => count(calls)],
        minutes: ['number', ({ minutes }) => decimal(minutes)],
        averageDuration: ['number', ({ averageDuration }) => clockText(averageDuration)],
      }}
    />
  );
}
