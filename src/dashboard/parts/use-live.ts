/** The live view as a page follows it, from when it comes to when it goes. */
import { useEffect, useState } from 'preact/hooks';
import { client } from '../app-state.ts';
import { afterEvent, type LiveState, NOTHING_LIVE } from '../live-state.ts';
import { followLive } from '../live-stream.ts';
import type { SseEvent } from '../sse.ts';

/** @param onEvent told of every event besides. */
export function useLive(
  callId: string | undefined,
  onEvent: (event: SseEvent) => void = () => undefined,
): { readonly live: LiveState; readonly isConnected: boolean } {
  const [live, setLive] = useState(NOTHING_LIVE);
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    const stopped = new AbortController();
    if (callId === '') return;
    const listener = {
      onEvent: (event: SseEvent) => {
        setLive((state) => afterEvent(state, event));
        onEvent(event);
      },
      onConnected: setConnected,
    };
    void followLive(client, callId === undefined ? {} : { callId }, listener, stopped.signal);
    return () => stopped.abort();
  }, [callId]);
  return { live, isConnected };
}
