/** A section with a uPlot chart: its options and colours, the figures under the cursor as text, and all of them as a table. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formats, shownTheme, t } from '../app-state.ts';
import { type Columns, type FieldName, Section, Table } from '../parts/page.tsx';
import { useWidth } from '../parts/use-width.ts';

/** @param props.facts must stay the same object while nothing changes: another one draws the chart again. */
export function ChartSection(props: {
  readonly label: string;
  readonly hint?: string;
  readonly facts: ChartFacts;
}) {
  const { label, hint, facts } = props;
  const [place, setPlace] = useState<number | undefined>(undefined);
  return (
    <Section title={label}>
      {hint !== undefined && <p class="muted">{hint}</p>}
      <Legend facts={facts} place={place} />
      <Plot label={label} facts={facts} place={place} onPlace={setPlace} />
      <details>
        <summary>{t('analytics.table')}</summary>
        <FigureTable label={label} facts={facts} />
      </details>
    </Section>
  );
}

function FigureTable({ label, facts }: { readonly label: string; readonly facts: ChartFacts }) {
  const { by, categories, series, counts, isListed = () => true } = facts;
  const columns = Object.fromEntries([
    [by, (place: number) => categories[place]],
    ...Object.entries(counts ?? {}).map(([field, values]) => [
      field,
      ['number', (place: number) => formats.value.count(values[place] ?? 0)],
    ]),
    ...series.map(({ field, values }) => [
      field,
      ['number', (place: number) => textOf(facts, values[place])],
    ]),
  ]) as Columns<number>;
  return <Table label={label} rows={[...categories.keys()].filter(isListed)} columns={columns} />;
}

/** Names and colours of the series, with their values where the cursor is. */
function Legend({
  facts,
  place,
}: {
  readonly facts: ChartFacts;
  readonly place: number | undefined;
}) {
  return (
    <ul class="legend">
      {facts.series.map(({ field, color, values }) => (
        <li key={field}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" rx="2" fill={`var(${color})`} />
          </svg>
          {t(`field.${field}`)}
          {place !== undefined && <strong> {textOf(facts, values[place])}</strong>}
        </li>
      ))}
      <li class="muted">{place === undefined ? t('analytics.hint') : facts.categories[place]}</li>
    </ul>
  );
}

function textOf({ valueText }: ChartFacts, value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : valueText(value);
}

/** Cursor position after a key, from 0 to `last`; undefined for other keys. */
function moved(key: string, place: number, last: number): number | undefined {
  const places: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last },
    ...{ ArrowDown: place - 1, ArrowUp: place + 1 },
  };
  const next = places[key];
  return next === undefined ? undefined : Math.min(last, Math.max(0, next));
}

/** The canvas; a slider too, so that keyboards and screen readers go through its places. */
function Plot(props: {
  readonly label: string;
  readonly facts: ChartFacts;
  readonly place: number | undefined;
  readonly onPlace: (place: number | undefined) => void;
}) {
  const { facts, place, onPlace } = props;
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const width = useWidth(element);
  const theme = shownTheme.value;
  const isMeasured = width > 0;
  useLayoutEffect(() => {
    if (element.current === null || !isMeasured) return;
    const options = optionsOf(facts, { element: element.current, width, onPlace });
    const drawn = new uPlot(options, dataOf(facts), element.current);
    plot.current = drawn;
    return () => {
      drawn.destroy();
      plot.current = undefined;
    };
  }, [facts, isMeasured, theme, onPlace]);
  useLayoutEffect(() => plot.current?.setSize({ width, height: CHART_HEIGHT }), [width]);
  const last = facts.categories.length - 1;
  const go = (next: number) => {
    const left = plot.current?.valToPos(next, 'x') ?? -10;
    plot.current?.setCursor({ left, top: 0 });
  };
  const press = (event: KeyboardEvent) => {
    const next = moved(event.key, place ?? last, last);
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    go(next);
  };
  return (
    <div
      class="plot"
      ref={element}
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={place ?? last}
      aria-valuetext={readOut(facts, place ?? last)}
      onKeyDown={press}
      onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
    />
  );
}

/** Figures at a place as text, such as `20 Nov: Completed 5, Missed 1`. */
function readOut(facts: ChartFacts, place: number): string {
  const values = facts.series.map(
    ({ field, values: all }) => `${t(`field.${field}`)} ${textOf(facts, all[place])}`,
  );
  return `${facts.categories[place]}: ${values.join(', ')}`;
}

/** One series, with a value for each category; null where there is none. */
interface ChartSeries {
  readonly field: FieldName;
  /** Variable of `tokens.css`, such as `--accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** Bars that stand on each other, the first series lowest; or lines. */
export interface ChartFacts {
  readonly kind: 'bars' | 'lines';
  /** What the categories are. */
  readonly by: 'day' | 'hour';
  /** Under the axis, from left to right. */
  readonly categories: readonly string[];
  readonly series: readonly ChartSeries[];
  /** Further columns of the table, which are not drawn. */
  readonly counts?: Readonly<Partial<Record<FieldName, readonly number[]>>>;
  /** Whether the table has the category at a place; it has all unless given. */
  readonly isListed?: (place: number) => boolean;
  readonly valueText: (value: number) => string;
}

/** In CSS pixels. */
const CHART_HEIGHT = 220;

const NAME_AXIS_HEIGHT = 30;
const BAR_WIDTH_MAX = 60;
const NAME_SPACE = 64;
const VALUE_SPACE = 36;
const VALUE_AXIS_WIDTH = 56;

const BAR_SHARE = 0.75;

/** Names of days and hours stand this many apart. */
const NAME_STEPS = [1, 2, 3, 6, 7, 14, 30, 60, 90];

/** From 1 to 50 million, in order: calls are whole. */
const COUNT_STEPS = Array.from({ length: 8 }, (_, at) => 10 ** at).flatMap((ten) => [
  ten,
  2 * ten,
  5 * ten,
]);

/** In the order in which it is drawn: the whole of a bar first, and its lower parts over it. */
function dataOf({ kind, categories, series }: ChartFacts): uPlot.AlignedData {
  const places = categories.map((_, index) => index);
  if (kind === 'lines') return [places, ...series.map(({ values }) => [...values])];
  const heights = series.map((_, top) =>
    places.map((place) =>
      series.slice(0, top + 1).reduce((sum, { values }) => sum + (values[place] ?? 0), 0),
    ),
  );
  return [places, ...heights.toReversed()];
}

/** @param element from which the colours of the current theme are read. */
function optionsOf(
  facts: ChartFacts,
  shown: {
    readonly element: Element;
    readonly width: number;
    /** The category under the cursor; undefined where it is elsewhere. */
    readonly onPlace: (place: number | undefined) => void;
  },
): uPlot.Options {
  const { kind, categories, series, valueText } = facts;
  const style = getComputedStyle(shown.element);
  const colorOf = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colorOf('--muted'),
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { stroke: colorOf('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  const drawn = kind === 'bars' ? series.toReversed() : series;
  return {
    ...{ width: shown.width, height: CHART_HEIGHT, legend: { show: false } },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    scales: {
      x: { time: false, range: () => [-0.5, categories.length - 0.5] },
      y: { range: (_, __, most) => [0, Math.max(most * 1.08, kind === 'bars' ? 1 : 100)] },
    },
    axes: [
      {
        ...axis,
        ...{ size: NAME_AXIS_HEIGHT, space: NAME_SPACE, incrs: NAME_STEPS, grid: { show: false } },
        values: (_, places) => places.map((place) => categories[place] ?? ''),
      },
      {
        ...axis,
        ...{ size: VALUE_AXIS_WIDTH, space: VALUE_SPACE },
        ...(kind === 'bars' && { incrs: COUNT_STEPS }),
        values: (_, values) => values.map(valueText),
      },
    ],
    series: [
      {},
      ...drawn.map(({ color }) =>
        kind === 'bars' ? barOf(colorOf(color), colorOf('--card')) : lineOf(colorOf(color)),
      ),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => shown.onPlace(idx ?? undefined)] },
  };
}

function barOf(fill: string, gap: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, BAR_WIDTH_MAX] });
  // A thin line in the colour of the ground keeps the parts of a bar apart.
  return { fill, stroke: gap, width: 1, points: { show: false }, ...(paths && { paths }) };
}

function lineOf(stroke: string): uPlot.Series {
  return { stroke, width: 2, points: { show: true, size: 6, fill: stroke } };
}
