/** The live view as a page follows it, from when it comes to when it goes. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiClient } from '../api-client.ts';
import { client, complain, t } from '../app-state.ts';
import {
  afterEvent,
  type LiveState,
  levelsOf,
  NOTHING_LIVE,
  type SseEvent,
  SseParser,
  transferFailureOf,
} from '../live-state.ts';
import type { MeterBoard } from '../meter-board.ts';

/** Many calls tell more than an eye can follow: what comes within this time is drawn together. */
const DRAW_MS = 80;

/** A page out of sight draws seldom; no more than this waits for it. */
const WAITING_MAX = 500;

/** @param board told of levels, where there are meters to show them. */
export function useLive(
  callId: string | undefined,
  board?: MeterBoard,
): { readonly live: LiveState; readonly isConnected: boolean } {
  const [live, setLive] = useState(NOTHING_LIVE);
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    const stopped = new AbortController();
    const { take, stop } = drawnTogether((events) =>
      setLive((state) => events.reduce(afterEvent, state)),
    );
    const listener = {
      onEvent: (event: SseEvent) => {
        const levels = levelsOf(event);
        if (levels === undefined) take(event);
        else board?.tell(levels);
        const failure = transferFailureOf(event);
        if (failure !== undefined) complain(new Error(t('transfer.failed', { reason: failure })));
      },
      onConnected: setConnected,
    };
    const query = {
      ...(callId === undefined ? {} : { callId }),
      ...(board === undefined ? {} : { levels: 'true' as const }),
    };
    void followLive(client, query, listener, stopped.signal);
    return () => {
      stopped.abort();
      stop();
    };
  }, [callId, board]);
  return { live, isConnected };
}

/** Hands on events in batches, in order. */
function drawnTogether(draw: (events: readonly SseEvent[]) => void): {
  readonly take: (event: SseEvent) => void;
  readonly stop: () => void;
} {
  let waiting: SseEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const events = waiting;
    waiting = [];
    draw(events);
  };
  return {
    take: (event) => {
      waiting.push(event);
      if (waiting.length >= WAITING_MAX) flush();
      else timer ??= setTimeout(flush, DRAW_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 30_000;

/** Comments come every 15 s; a stream that is silent for so long is dead. */
const SILENT_MS_MAX = 45_000;

interface LiveListener {
  readonly onEvent: (event: SseEvent) => void;
  readonly onConnected: (isConnected: boolean) => void;
}

/** Runs until `signal` is aborted. */
async function followLive(
  client: ApiClient,
  query: { readonly callId?: string; readonly levels?: 'true' },
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = WAIT_MS_FIRST;
  while (!signal.aborted) {
    try {
      const response = await client.open('api/live/calls', { query, signal });
      listener.onConnected(true);
      waitMs = WAIT_MS_FIRST;
      await read(response, listener, signal);
    } catch {
      // The next try shows whether the fault lasts.
    }
    if (signal.aborted) return;
    listener.onConnected(false);
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, WAIT_MS_MAX);
  }
}

async function read(
  response: Response,
  { onEvent }: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  const parser = new SseParser();
  while (!signal.aborted) {
    const timer = setTimeout(() => void reader.cancel(), SILENT_MS_MAX);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    for (const event of parser.push(value)) onEvent(event);
  }
  await reader.cancel();
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
