/** Calls as they go on: their state, how loud they are, what is said as it is said, and taking part. */
import { useEffect, useState } from 'preact/hooks';
import { formats, t } from '../app-state.ts';
import { BROWSER_BOARD } from '../browser-board.ts';
import { isOver } from '../live-state.ts';
import { MeterBoard } from '../meter-board.ts';
import { LiveCard } from '../parts/live-card.tsx';
import { Page } from '../parts/page.tsx';
import { SimulateButton } from '../parts/simulate.tsx';
import { useAgents } from '../parts/use-agents.ts';
import { useLive } from '../parts/use-live.ts';

export function LivePage() {
  const [board] = useState(() => new MeterBoard(BROWSER_BOARD));
  useEffect(() => () => board.stop(), [board]);
  const { live, isConnected } = useLive(undefined, board);
  const agents = useAgents();
  const { count } = formats.value;
  const going = live.calls.filter((call) => !isOver(call));
  return (
    <Page title={t('live.title')} actions={<SimulateButton agents={agents.list} />}>
      <p class="live-line" role="status">
        <span class={isConnected ? 'dot dot-good' : 'dot dot-bad'} aria-hidden="true" />
        {t(isConnected ? 'live.connected' : 'live.connecting')}
        {' · '}
        {t('live.count', { calls: count(going.length), queued: count(live.queuedCalls) })}
      </p>
      {live.calls.length === 0 ? <p class="empty">{t('live.none')}</p> : null}
      <div class="live-grid">
        {live.calls.map((call) => (
          <LiveCard
            key={call.id}
            call={call}
            agentName={agents.nameOf(call.agentId)}
            board={board}
          />
        ))}
      </div>
    </Page>
  );
}
