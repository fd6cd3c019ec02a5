/** Whether the server can take calls, and with what: the report that `/readyz` shows. */
import type { EngineState } from './engine-state.ts';

export interface CarrierState {
  readonly name: string;
  /** A trunk of several may fail without making the server unready; anything else may not. */
  readonly kind?: 'trunk';
  readonly isReady: boolean;
  readonly state: string;
}

/** Something the server needs besides, such as a database that can be written. */
export interface ReadinessCheck {
  readonly name: string;
  readonly isOk: boolean;
  /** In plain English, such as why not. */
  readonly state: string;
}

export interface ReadinessReport {
  /** `draining`: calls in progress may finish, new ones are refused. */
  readonly status: 'ready' | 'draining' | 'not_ready';
  readonly engines: readonly EngineState[];
  readonly carriers: readonly CarrierState[];
  readonly checks: readonly ReadinessCheck[];
}

/**
 * Draining wins. Otherwise ready means that every check and every carrier is well; of the trunks at least one, or there is
 * none. A trunk that fails while another works is reported, and calls by the others go on.
 */
export function readinessStatus(parts: {
  readonly isDraining: boolean;
  readonly carriers: readonly CarrierState[];
  readonly checks: readonly ReadinessCheck[];
}): ReadinessReport['status'] {
  if (parts.isDraining) return 'draining';
  const isTrunk = ({ kind }: CarrierState) => kind === 'trunk';
  const trunks = parts.carriers.filter(isTrunk);
  const isWell =
    parts.carriers.every((carrier) => isTrunk(carrier) || carrier.isReady) &&
    (trunks.length === 0 || trunks.some(({ isReady }) => isReady)) &&
    parts.checks.every(({ isOk }) => isOk);
  return isWell ? 'ready' : 'not_ready';
}
