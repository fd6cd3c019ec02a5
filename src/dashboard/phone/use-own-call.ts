/** The phone's own call in the live view, with its words as they are said. */
import type { LiveCall } from '../live-state.ts';
import { useLive } from '../parts/use-live.ts';

/**
 * Only the call that the server named in its answer: another reader may call the same agent.
 *
 * @param callId null while there is none.
 * @returns undefined until the server has told of the call.
 */
export function useOwnCall(callId: string | null): LiveCall | undefined {
  const { live } = useLive(undefined);
  return live.calls.find(({ id }) => id === callId);
}
