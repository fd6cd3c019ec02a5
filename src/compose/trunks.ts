/** Composition root: the operator's trunks as the interface shows them. */
import type { TrunkState, TrunkStatus, Trunks } from '../domain/dialing/trunk-state.ts';
import { hostPortOf } from '../telephony/drachtio/carrier/trunk-address.ts';
import { TrunkNumbers } from '../telephony/trunks/trunk-numbers.ts';
import type { Trunk } from '../telephony/trunks/trunks.ts';

const NOT_STARTED: TrunkStatus = {
  state: 'unregistered',
  detail: 'telephony has not been started',
  expiresAt: null,
};

/** @param now.statusOf undefined before the start. */
export function operatorTrunks(
  trunks: readonly Trunk[],
  now: {
    readonly statusOf: (trunk: Trunk) => TrunkStatus | undefined;
    readonly callsOn: (trunk: Trunk) => number;
  },
): Trunks {
  const numbers = new TrunkNumbers(trunks);
  return {
    list: () => trunks.map((trunk) => stateOf(trunk, now)),
    numbers: numbers.all,
    trunksOf: (number) => numbers.trunksOf(number),
    accountOf: (number) => numbers.accountOf(number),
  };
}

function stateOf(trunk: Trunk, now: Parameters<typeof operatorTrunks>[1]): TrunkState {
  const { name, account = null, proxy, numbers, codecs, maxCalls } = trunk;
  return {
    ...(now.statusOf(trunk) ?? NOT_STARTED),
    name,
    account,
    proxy: hostPortOf(proxy),
    transport: proxy.transport,
    numbers,
    codecs,
    callsInProgress: now.callsOn(trunk),
    callsMax: maxCalls ?? null,
  };
}
