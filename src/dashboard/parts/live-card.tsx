/** One call that goes on: its state, its levels, its newest words, and what can be done to it. */
import { useMemo } from 'preact/hooks';
import { t } from '../app-state.ts';
import { isOver, type LiveCall } from '../live-state.ts';
import type { MeterBoard } from '../meter-board.ts';
import { CallControls } from './call-controls.tsx';
import { LevelMeters } from './level-meters.tsx';
import { State } from './page.tsx';
import { Words } from './words.tsx';

/** The whole transcript is on the call's own page; here many calls stand beside each other. */
const WORDS_SHOWN = 40;

interface LiveCardProps {
  readonly call: LiveCall;
  readonly agentName: string;
  readonly board: MeterBoard;
}

/** Drawn anew only when something of this call has changed, however much happens on the others. */
export function LiveCard({ call, agentName, board }: LiveCardProps) {
  return useMemo(
    () => <Card call={call} agentName={agentName} board={board} />,
    [call, agentName, board],
  );
}

function Card({ call, agentName, board }: LiveCardProps) {
  const title = `${call.from} → ${call.to}`;
  return (
    <article class="card live-card" aria-label={title}>
      <header>
        <a class="number" href={`#/calls/${call.id}`}>
          {title}
        </a>
        <State of={call.status} />
        <span class="muted">{agentName}</span>
      </header>
      {isOver(call) ? null : <LevelMeters callId={call.id} board={board} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="live-words" tabIndex={0} aria-label={t('words.label')}>
        <Words entries={call.transcript.slice(-WORDS_SHOWN)} hearing={call.hearing} />
      </section>
      {isOver(call) ? null : (
        <footer class="actions">
          <CallControls callId={call.id} isAnswered={call.status === 'in_progress'} />
        </footer>
      )}
    </article>
  );
}
