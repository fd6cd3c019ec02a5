/** Tells the phone's own call among all that the live view shows; pure */
import type { LiveCall } from '../live-state.ts';

/** What the server writes as the caller's number of a call from a browser. */
const BROWSER = 'browser';

/**
 * The call that has come since dialling: SIP tells the page no id of ours.
 *
 * @param before ids of the calls that were there already.
 */
export function ownCallOf(
  calls: readonly LiveCall[],
  agentId: string,
  before: ReadonlySet<string>,
): LiveCall | undefined {
  return calls.find(
    (call) => call.from === BROWSER && call.agentId === agentId && !before.has(call.id),
  );
}
