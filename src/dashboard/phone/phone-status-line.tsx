/** Says what the phone is doing, and for how long it has been talking. */
import { useEffect, useState } from 'preact/hooks';
import { t } from '../app-state.ts';
import { clockText } from '../format.ts';
import type { TextKey } from '../text/text.ts';
import { type PhoneState, talkedMs } from './phone-state.ts';

const TICK_MS = 500;

/** The words are a live region; the seconds are not, or they would be read out one by one. */
export function PhoneStatusLine({ state }: { readonly state: PhoneState }) {
  const nowMs = useNowMs(state.status === 'talking');
  return (
    <p class="phone-line">
      <span role="status">
        {t(textOf(state))}
        {state.isMuted && state.status !== 'ended' ? ` · ${t('phone.muted')}` : ''}
      </span>
      {state.answeredAtMs === null ? null : (
        <span class="number" role="timer">
          {clockText(talkedMs(state, nowMs) / 1000)}
        </span>
      )}
    </p>
  );
}

function textOf({ status, endedBy, answeredAtMs }: PhoneState): TextKey {
  if (status !== 'ended') return `phone.state.${status}`;
  if (endedBy !== null) return `phone.ended.${endedBy}`;
  return answeredAtMs === null ? 'phone.ended.never' : 'phone.ended.broken';
}

function useNowMs(isTicking: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isTicking) return;
    const tick = () => setNowMs(Date.now());
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return nowMs;
}
