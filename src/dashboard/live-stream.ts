/** Follows the live view over `fetch`, because `EventSource` cannot send a key; connects again whenever it is cut off. */
import type { ApiClient } from './api-client.ts';
import { type SseEvent, SseParser } from './sse.ts';

const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 30_000;

/** Comments come every 15 s; a stream that is silent for so long is dead. */
const SILENT_MS_MAX = 45_000;

export interface LiveListener {
  readonly onEvent: (event: SseEvent) => void;
  readonly onConnected: (isConnected: boolean) => void;
}

/** Runs until `signal` is aborted. */
export async function followLive(
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
      // Whatever it was, the next try shows whether it lasts.
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
