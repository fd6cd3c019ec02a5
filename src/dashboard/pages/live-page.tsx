/** Calls in progress: state, levels, transcript as it grows, and controls to take part. */
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallCommon } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { isOver, type LiveCall } from '../live-state.ts';
import type { MeterBoard } from '../meter-board.ts';
import { SimulateButton } from '../parts/call-buttons.tsx';
import { CallControls } from '../parts/call-controls.tsx';
import { LevelMeters, useMeterBoard, Words } from '../parts/heard.tsx';
import { Empty, LinkButton, Page, Scroller, State } from '../parts/page.tsx';
import { useLive, useNowMs } from '../parts/use-live.ts';
import { useAgents } from '../parts/use-load.ts';

export function LivePage() {
  const board = useMeterBoard();
  const { live, isConnected } = useLive(undefined, board);
  const agents = useAgents();
  const { count } = formats.value;
  const going = live.calls.filter((call) => !isOver(call));
  return (
    <Page title={t('live.title')} actions={<SimulateButton agents={agents.list} />}>
      <p class="live-line" role="status">
        <span class={isConnected ? 'dot good' : 'dot bad'} aria-hidden="true" />
        {t(isConnected ? 'live.connected' : 'live.connecting')}
        {' · '}
        {t('live.count', { calls: count(going.length), queued: count(live.queuedCalls) })}
      </p>
      {live.calls.length === 0 && (
        <Empty text={t('live.none')}>
          <LinkButton href="#/agents" text={t('calls.emptyButton')} />
        </Empty>
      )}
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

/** The whole transcript is on the call's own page; here are many calls at once. */
const WORDS_SHOWN = 40;

interface LiveCardProps {
  readonly call: LiveCall;
  readonly agentName: string;
  readonly board: MeterBoard;
}

/** Renders only after a change of this call; out of sight only after a change of its status. */
function LiveCard({ call, agentName, board }: LiveCardProps) {
  const element = useRef<HTMLElement | null>(null);
  const isSeen = useSeen(element);
  return useMemo(
    () => <Card {...{ call, agentName, board, element, isSeen }} />,
    [isSeen ? call : call.status, agentName, board, isSeen],
  );
}

interface CardProps extends LiveCardProps {
  readonly element: RefObject<HTMLElement | null>;
  readonly isSeen: boolean;
}

function Card({ call, agentName, board, element, isSeen }: CardProps) {
  const title = `${call.from} → ${call.to}`;
  return (
    <article ref={element} class="card live-card" aria-label={title}>
      <header>
        <a class="number" href={`#/calls/${call.id}`} title={title}>
          {title}
        </a>
        <span class="live-agent">
          <State of={call.status} />
          <span class="muted">{agentName}</span>
          <CallTimer call={call} isRunning={isSeen} />
        </span>
      </header>
      {isOver(call) ? null : (
        <>
          <LevelMeters callId={call.id} board={isSeen ? board : undefined} />
          <div class="live-actions">
            <CallControls callId={call.id} isAnswered={call.status === 'in_progress'} />
          </div>
        </>
      )}
      <Scroller class="live-words" label={t('words.label')}>
        <Words entries={call.transcript.slice(-WORDS_SHOWN)} hearing={call.hearing} />
      </Scroller>
    </article>
  );
}

/** How long the call has been going on. @param props.isRunning false keeps the number as it is, for a card that is out of sight. */
function CallTimer(props: {
  readonly call: Pick<CallCommon, 'startedAt' | 'answeredAt' | 'endedAt'>;
  readonly isRunning: boolean;
}) {
  const { call, isRunning } = props;
  const { startedAt, answeredAt, endedAt } = call;
  const isTicking = isRunning && endedAt === null;
  const nowMs = useNowMs(isTicking);
  const since = answeredAt ?? startedAt;
  if (since === null) return null;
  const untilMs = endedAt === null ? nowMs : Date.parse(endedAt);
  return (
    <span class="call-timer" role="timer" aria-label={t('field.duration')}>
      {clockText((untilMs - Date.parse(since)) / 1000)}
    </span>
  );
}

/** Elements this near to the window count as seen: they are up to date when they come into sight. */
const MARGIN = '300px';

/** True until the browser has looked. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    if (element.current === null) return;
    const look = (entries: readonly IntersectionObserverEntry[]) =>
      setSeen(entries.at(-1)?.isIntersecting ?? true);
    const observer = new IntersectionObserver(look, { rootMargin: MARGIN });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}
