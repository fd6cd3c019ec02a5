/** Trunks and telephone numbers as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { ListedNumber } from '../../domain/dialing/number-list.ts';
import type { TrunkState } from '../../domain/dialing/number-owner.ts';
import type { phoneNumberPageSchema, trunkListSchema } from '../schemas/trunk-schemas.ts';

type TrunkView = z.infer<typeof trunkListSchema>['data'][number];

/** Field by field: what a trunk may gain later must not get out by itself. */
export function serializeTrunk(trunk: TrunkState): TrunkView {
  return {
    name: trunk.name,
    account: trunk.account,
    proxy: trunk.proxy,
    transport: trunk.transport,
    state: trunk.state,
    detail: trunk.detail,
    expiresAt: trunk.expiresAt?.toISOString() ?? null,
    numbers: [...trunk.numbers],
    codecs: [...trunk.codecs],
    callsInProgress: trunk.callsInProgress,
    callsMax: trunk.callsMax,
  };
}

export function serializePhoneNumber(
  listed: ListedNumber,
): z.infer<typeof phoneNumberPageSchema>['data'][number] {
  const { number, trunks, owner, holder, isTaken } = listed;
  return {
    number,
    trunks: [...trunks],
    accountId: owner ?? null,
    agentId: holder?.agentId ?? null,
    agentName: holder?.agentName ?? null,
    isTaken,
  };
}
