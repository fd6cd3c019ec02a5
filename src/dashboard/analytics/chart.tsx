/** A chart as wide as its place, with the figures under the cursor as text, and all of them as a table. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shownTheme, t } from '../app-state.ts';
import { CHART_HEIGHT, type ChartFacts, dataOf, optionsOf } from './chart-options.ts';

/** @param props.facts must stay the same object while nothing changes: another one draws the chart again. */
export function Chart(props: {
  readonly label: string;
  readonly facts: ChartFacts;
  /** The table of the same figures. */
  readonly children: ComponentChildren;
}) {
  const { label, facts } = props;
  const [place, setPlace] = useState<number | undefined>(undefined);
  return (
    <>
      <Legend facts={facts} place={place} />
      <Plot label={label} facts={facts} place={place} onPlace={setPlace} />
      <details>
        <summary>{t('analytics.table')}</summary>
        {props.children}
      </details>
    </>
  );
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
      {facts.series.map(({ name, color, values }) => (
        <li key={name}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" rx="2" fill={`var(${color})`} />
          </svg>
          {name}
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

/** Where each key moves the cursor, of `last` places. */
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

/** Such as `20 Nov: Completed 5, Missed 1`. */
function readOut(facts: ChartFacts, place: number): string {
  const values = facts.series.map(
    ({ name, values: all }) => `${name} ${textOf(facts, all[place])}`,
  );
  return `${facts.categories[place]}: ${values.join(', ')}`;
}

/** Of an element, in CSS pixels; 0 until it is measured. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    const observer = new ResizeObserver(() => setWidth(measured.clientWidth));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
