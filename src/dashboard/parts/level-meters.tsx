/** How loud both sides of a live call are. */
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import type { MeterBoard } from '../meter-board.ts';

export function LevelMeters(props: { readonly callId: string; readonly board: MeterBoard }) {
  const { callId, board } = props;
  const [caller, agent] = [useRef<HTMLSpanElement>(null), useRef<HTMLSpanElement>(null)];
  useEffect(
    () => board.attach(callId, { caller: caller.current, agent: agent.current }),
    [callId, board],
  );
  // For the eye alone: who listens to the page would be told of it four times a second.
  return (
    <div class="meters" aria-hidden="true">
      <span>{t('words.caller')}</span>
      <span class="meter">
        <span class="meter-fill" ref={caller} />
      </span>
      <span>{t('words.agent')}</span>
      <span class="meter meter-agent">
        <span class="meter-fill" ref={agent} />
      </span>
    </div>
  );
}
