/** Calls as they go on: their state, what is said as it is said, and hanging up. */
import { useEffect, useRef } from 'preact/hooks';
import { formats, t } from '../app-state.ts';
import { isOver, type LiveCall } from '../live-state.ts';
import { HangUp } from '../parts/hang-up.tsx';
import { Page, State } from '../parts/page.tsx';
import { SimulateButton } from '../parts/simulate.tsx';
import { type Agents, useAgents } from '../parts/use-agents.ts';
import { useLive } from '../parts/use-live.ts';
import { Words } from '../parts/words.tsx';

export function LivePage() {
  const { live, isConnected } = useLive(undefined);
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
          <LiveCard key={call.id} call={call} agents={agents} />
        ))}
      </div>
    </Page>
  );
}

function LiveCard({ call, agents }: { readonly call: LiveCall; readonly agents: Agents }) {
  const words = useRef<HTMLElement>(null);
  useEffect(() => {
    // Follows the newest words, unless the reader has scrolled up to read.
    const box = words.current;
    if (box === null) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 120) box.scrollTop = box.scrollHeight;
  }, [call.transcript.length, call.hearing]);
  const title = `${call.from} → ${call.to}`;
  return (
    <article class="card live-card" aria-label={title}>
      <header>
        <a class="number" href={`#/calls/${call.id}`}>
          {title}
        </a>
        <State of={call.status} />
        <span class="muted">{agents.nameOf(call.agentId)}</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="live-words" ref={words} tabIndex={0} aria-label={t('words.label')}>
        <Words entries={call.transcript} hearing={call.hearing} />
      </section>
      {isOver(call) ? null : (
        <footer class="actions">
          <HangUp callId={call.id} />
        </footer>
      )}
    </article>
  );
}
