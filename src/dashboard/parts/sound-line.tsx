/** A recording on a time line: its sound, the turns below it, where it is being heard, and what moves it. */
import { useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { client, t } from '../app-state.ts';
import type { RecordingPeaks } from '../call-types.ts';
import { clockText } from '../format.ts';
import { moved, msAt, type Stretch, shareAt, showing, wholeOf, zoomed } from '../time-line.ts';
import type { TurnBars } from '../waterfall.ts';
import { pointsFor } from '../wave-shape.ts';
import { SelectField } from './field.tsx';
import { Problem } from './page.tsx';
import { Playhead } from './playhead.tsx';
import { Ruler, TurnLane } from './turn-lane.tsx';
import { useLoad } from './use-load.ts';
import type { Player } from './use-player.ts';
import { Waves } from './waves.tsx';

const RATES = ['0.75', '1', '1.25', '1.5', '2'] as const;

export function SoundLine(props: {
  readonly callId: string;
  /** How long the call was, as it is on record: the recording may be a little longer. */
  readonly durationSeconds: number;
  /** Where the recording is, as a file. */
  readonly link: string;
  readonly player: Player;
  readonly turns: readonly TurnBars[];
}) {
  const { callId, player, turns } = props;
  const { value: outline, error } = useLoad(
    (signal) =>
      client.api<RecordingPeaks>(`api/calls/${callId}/recording/peaks`, {
        query: { points: pointsFor(props.durationSeconds * 1000) },
        signal,
      }),
    [callId],
  );
  const [chosen, setChosen] = useState<Stretch | undefined>(undefined);
  const durationMs = outline?.durationMs ?? player.durationMs.value;
  const stretch = chosen ?? wholeOf(durationMs);
  const zoom = (factor: number) => {
    setChosen(zoomed(stretch, durationMs, { factor, aroundMs: middleOf(stretch, player) }));
  };
  const line = { stretch, durationMs, player };
  return (
    <>
      {error === undefined ? null : <Problem error={error} />}
      <div class="time-line">
        <Ruler stretch={stretch} />
        <Waves {...line} outline={outline} onZoom={zoom} />
        <TurnLane stretch={stretch} turns={turns} />
        <Playhead {...line} onLeft={(atMs) => setChosen(showing(stretch, durationMs, atMs))} />
      </div>
      <Buttons
        {...line}
        link={props.link}
        onZoom={zoom}
        onMove={(share) =>
          setChosen(moved(stretch, durationMs, share * (stretch.toMs - stretch.fromMs)))
        }
        onWhole={() => setChosen(undefined)}
      />
    </>
  );
}

/** Where the reader looks: at the sound, or, where it is out of sight, at the middle. */
function middleOf(stretch: Stretch, { atMs }: Player): number {
  const share = shareAt(stretch, atMs.peek());
  return share >= 0 && share <= 1 ? atMs.peek() : msAt(stretch, 0.5);
}

function Buttons(props: {
  readonly stretch: Stretch;
  readonly durationMs: number;
  readonly player: Player;
  readonly link: string;
  readonly onZoom: (factor: number) => void;
  readonly onMove: (share: number) => void;
  readonly onWhole: () => void;
}) {
  const { stretch, durationMs, player } = props;
  const isWhole = stretch.toMs - stretch.fromMs >= wholeOf(durationMs).toMs;
  return (
    <div class="player">
      <button type="button" class="main" onClick={player.toggle}>
        {t(player.isPlaying.value ? 'player.pause' : 'player.play')}
      </button>
      <Clock player={player} durationMs={durationMs} />
      <fieldset class="player-zoom">
        <legend class="unseen">{t('player.zoom')}</legend>
        <button
          type="button"
          aria-label={t('player.earlier')}
          disabled={isWhole}
          onClick={() => props.onMove(-0.5)}
        >
          ◀
        </button>
        <button type="button" aria-label={t('player.nearer')} onClick={() => props.onZoom(2)}>
          +
        </button>
        <button
          type="button"
          aria-label={t('player.further')}
          disabled={isWhole}
          onClick={() => props.onZoom(0.5)}
        >
          −
        </button>
        <button
          type="button"
          aria-label={t('player.later')}
          disabled={isWhole}
          onClick={() => props.onMove(0.5)}
        >
          ▶
        </button>
        <button type="button" disabled={isWhole} onClick={props.onWhole}>
          {t('player.whole')}
        </button>
      </fieldset>
      <Rate player={player} />
      <a class="button" href={props.link} download>
        {t('player.save')}
      </a>
    </div>
  );
}

function Rate({ player }: { readonly player: Player }) {
  const [rate, setRate] = useState('1');
  return (
    <SelectField
      label={t('player.rate')}
      value={rate}
      options={RATES.map((value) => [value, `${value}×`])}
      onValue={(value) => {
        setRate(value);
        player.setRate(Number(value));
      }}
    />
  );
}

/** On its own, so that its hand draws nothing else anew. */
function Clock({ player, durationMs }: { readonly player: Player; readonly durationMs: number }) {
  const at = useComputed(() => clockText(player.atMs.value / 1000));
  return (
    <span class="number">
      {at.value} / {clockText(durationMs / 1000)}
    </span>
  );
}
