/** Whether the server can take calls, and with what: the report that `/readyz` shows. */
import type { EngineState } from './engine-state.ts';

export interface CarrierState {
  readonly name: string;
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

/** Draining wins; otherwise ready means that every carrier and every check is well. */
export function readinessStatus(parts: {
  readonly isDraining: boolean;
  readonly carriers: readonly CarrierState[];
  readonly checks: readonly ReadinessCheck[];
}): ReadinessReport['status'] {
  if (parts.isDraining) return 'draining';
  const isWell =
    parts.carriers.every(({ isReady }) => isReady) && parts.checks.every(({ isOk }) => isOk);
  return isWell ? 'ready' : 'not_ready';
}
