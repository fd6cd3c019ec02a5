/** The trunks in effect as the operator sees them: settings without passwords, status and calls; pure */
import type { AddressInUse, TrunkStatus, Trunks } from '../../domain/dialing/trunk.ts';
import { type TrunkRegistry, viewOfTrunk } from './trunk-registry.ts';
import type { Trunk } from './trunks.ts';

/** Status of every trunk before telephony has been started. */
export const NOT_STARTED: TrunkStatus = {
  state: 'unregistered',
  detail: 'telephony has not been started',
  expiresAt: null,
};

const LOCAL: AddressInUse = { address: null, source: 'local' };

/**
 * @param now.statusOf undefined before the start.
 * @param now.addressFor default: the local address for every trunk.
 */
export function operatorTrunks(
  registry: TrunkRegistry,
  now: {
    readonly statusOf: (trunk: Trunk) => TrunkStatus | undefined;
    readonly addressFor?: (trunk: Trunk) => AddressInUse;
    readonly callsOn: (trunk: Trunk) => number;
  },
): Trunks {
  return {
    list: () =>
      registry.all.map((trunk) => ({
        ...viewOfTrunk(trunk, registry.sourceOf(trunk)),
        ...(now.statusOf(trunk) ?? NOT_STARTED),
        addressInUse: now.addressFor?.(trunk) ?? LOCAL,
        callsInProgress: now.callsOn(trunk),
      })),
    get numbers() {
      return registry.numbers.all;
    },
    trunksOf: (number) => registry.numbers.trunksOf(number),
    accountOf: (number) => registry.numbers.accountOf(number),
  };
}
