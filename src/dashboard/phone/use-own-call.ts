/** The phone's own call in the live view, with its words as they are said. */
import { useEffect, useRef } from 'preact/hooks';
import type { LiveCall } from '../live-state.ts';
import { useLive } from '../parts/use-live.ts';
import { ownCallOf } from './own-call.ts';
import type { PhoneStatus } from './phone-state.ts';

/** @returns undefined until the server has told of the call. */
export function useOwnCall(agentId: string, status: PhoneStatus): LiveCall | undefined {
  const { live } = useLive(undefined);
  const before = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (status === 'asking') before.current = new Set(live.calls.map(({ id }) => id));
  }, [status]);
  if (status === 'idle' || status === 'asking') return undefined;
  return ownCallOf(live.calls, agentId, before.current);
}
