/** The time by the browser's clock, for timers on a page. */
import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 1000;

/** Unix milliseconds, new each second while it ticks. */
export function useNowMs(isTicking: boolean): number {
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
