/** What uPlot is told: data, scales, axes and colours of a chart. */
import uPlot from 'uplot';

/** One series, with a value for each category; null where there is none. */
export interface ChartSeries {
  readonly name: string;
  /** Of `tokens.css`, such as `--accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** Bars that stand on each other, the first series lowest; or lines. */
export interface ChartFacts {
  readonly kind: 'bars' | 'lines';
  /** Under the axis, from left to right. */
  readonly categories: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly valueText: (value: number) => string;
}

/** In CSS pixels. */
export const CHART_HEIGHT = 220;

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
export function dataOf({ kind, categories, series }: ChartFacts): uPlot.AlignedData {
  const places = categories.map((_, index) => index);
  if (kind === 'lines') return [places, ...series.map(({ values }) => [...values])];
  const heights = series.map((_, top) =>
    places.map((place) =>
      series.slice(0, top + 1).reduce((sum, { values }) => sum + (values[place] ?? 0), 0),
    ),
  );
  return [places, ...heights.toReversed()];
}

/** @param element is where colours are read: they are those of the theme that is shown. */
export function optionsOf(
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
