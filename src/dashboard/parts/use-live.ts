/** The live view as a page follows it, from when it comes to when it goes, and the clock of its timers. */
import { useEffect, useState } from 'preact/hooks';
import { type Query, readEvents, type SseEvent } from '../api-client.ts';
import { client, complain, sentence, t } from '../app-state.ts';
import {
  afterEvent,
  type LiveState,
  levelsOf,
  NOTHING_LIVE,
  transferFailureOf,
} from '../live-state.ts';
import type { MeterBoard } from '../meter-board.ts';

/** Events within this time are drawn together: many calls send more of them than an eye can follow. */
const DRAW_MS = 80;

/** @param board gets the levels; undefined without meters. */
export function useLive(
  callId: string | undefined,
  board?: MeterBoard,
): { readonly live: LiveState; readonly isConnected: boolean } {
  const [live, setLive] = useState(NOTHING_LIVE);
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    const stopped = new AbortController();
    let state = NOTHING_LIVE;
    let drawing: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      drawing = undefined;
      setLive(state);
    };
    const onEvent = (event: SseEvent) => {
      const levels = levelsOf(event);
      if (levels !== undefined) return board?.tell(levels);
      const failure = transferFailureOf(event);
      if (failure !== undefined)
        complain(new Error(t('transfer.failed', { reason: sentence(failure) })));
      state = afterEvent(state, event);
      drawing ??= setTimeout(draw, DRAW_MS);
    };
    const query = { callId, levels: board && 'true' };
    void followLive(query, { onEvent, onConnected: setConnected }, stopped.signal);
    return () => {
      stopped.abort();
      clearTimeout(drawing);
    };
  }, [callId, board]);
  return { live, isConnected };
}

const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 30_000;

interface LiveListener {
  readonly onEvent: (event: SseEvent) => void;
  readonly onConnected: (isConnected: boolean) => void;
}

/** Runs until `signal` is aborted. */
async function followLive(
  query: Query,
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = WAIT_MS_FIRST;
  while (!signal.aborted) {
    try {
      const response = await client.open('api/live/calls', { query, signal });
      listener.onConnected(true);
      waitMs = WAIT_MS_FIRST;
      await readEvents(response, listener.onEvent, signal);
    } catch {
      // The next try shows whether the fault lasts.
    }
    if (signal.aborted) return;
    listener.onConnected(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, WAIT_MS_MAX);
  }
}

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
