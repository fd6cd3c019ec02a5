/** What lies beside the sound on the same time line: its ruler, and where the time of each turn went. */
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { type Stretch, shareAt, shown, ticksOf } from '../time-line.ts';
import type { TurnBars } from '../waterfall.ts';

const TICKS = 8;

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

export function Ruler({ stretch }: { readonly stretch: Stretch }) {
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

/** A text at an edge would be cut in half. */
function edgeOf(share: number): string {
  if (share < 0.03) return 'tick-text tick-first';
  return share > 0.97 ? 'tick-text tick-last' : 'tick-text';
}

/** Places are shares of the width, which is the canvas's: both have the same parent, and no margin. */
export function TurnLane(props: {
  readonly stretch: Stretch;
  readonly turns: readonly TurnBars[];
}) {
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
      {turn.spans.map(({ name, fromMs, toMs }) => {
        const part = shown(stretch, { fromMs: turn.atMs + fromMs, toMs: turn.atMs + toMs });
        if (part === undefined) return null;
        const text = `${clockText(turn.atMs / 1000)} · ${t(`span.${name}`)}: ${formats.value.count(toMs - fromMs)} ms`;
        return (
          <rect
            key={name}
            x={percent(part.from)}
            width={percent(part.to - part.from)}
            y="4"
            height="16"
            class={`span-${name}`}
          >
            <title>{text}</title>
          </rect>
        );
      })}
    </g>
  );
}
