/** Reports of a SIP server and its trunks for the operator; pure */
import type { CarrierReport } from '../../carrier.ts';
import { hostPortOf, type Trunk } from '../../trunks/trunks.ts';
import type { SipAddress } from './srf-link.ts';

interface ListenerState {
  readonly name: string;
  readonly isConnected: boolean;
  readonly isDraining: boolean;
  readonly addresses: readonly SipAddress[];
  /** Reason of the missing connection. */
  readonly problem: string;
}

/** Report of one SIP server for the operator. */
export function listenerReport(state: ListenerState): CarrierReport {
  const places = state.addresses.map(({ transport, hostPort }) => `${transport} ${hostPort}`);
  const listening = places.length === 0 ? 'ready' : `listening on ${places.join(' and ')}`;
  return {
    name: state.name,
    isReady: state.isConnected && !state.isDraining,
    state: state.isConnected ? listening : state.problem,
  };
}

/**
 * Report of a trunk without registration. @param problem reason why it takes no calls; undefined while it takes them.
 */
export function staticTrunkReport(
  { name, proxy }: Trunk,
  problem: string | undefined,
): CarrierReport {
  return {
    name: `trunk ${name}`,
    isReady: problem === undefined,
    state: problem ?? `calls go to ${hostPortOf(proxy)}, without registration`,
  };
}
