/** The trunks in effect as the operator sees them: settings without passwords, status and calls; pure */
import type { TrunkStatus, Trunks } from '../../domain/dialing/trunk.ts';
import { type TrunkRegistry, viewOfTrunk } from './trunk-registry.ts';
import type { Trunk } from './trunks.ts';

/** Status of every trunk before telephony has been started. */
export const NOT_STARTED: TrunkStatus = {
  state: 'unregistered',
  detail: 'telephony has not been started',
  expiresAt: null,
};

/** @param now.statusOf undefined before the start. */
export function operatorTrunks(
  registry: TrunkRegistry,
  now: {
    readonly statusOf: (trunk: Trunk) => TrunkStatus | undefined;
    readonly callsOn: (trunk: Trunk) => number;
  },
): Trunks {
  return {
    list: () =>
      registry.all.map((trunk) => ({
        ...viewOfTrunk(trunk, registry.sourceOf(trunk)),
        ...(now.statusOf(trunk) ?? NOT_STARTED),
        callsInProgress: now.callsOn(trunk),
      })),
    get numbers() {
      return registry.numbers.all;
    },
    trunksOf: (number) => registry.numbers.trunksOf(number),
    accountOf: (number) => registry.numbers.accountOf(number),
  };
}
