/** Limits transfers per call and per agent and day, against toll fraud by prompt injection or a stolen key. */

import type { ConversationBrief } from '../../conversation/conversation-port.ts';
import type { Account } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { TransferRules } from '../../tool/transfer-call.ts';

/** Allows a second try at a busy colleague, or another colleague; more attempts suggest prompt injection. */
const ATTEMPTS_A_CALL_MAX = 3;

const TRANSFERS_A_DAY_MAX = 200;

/** Origin of a transfer: the model, the customer by REST, or the far end by REFER. */
export type TransferAsker = 'agent' | 'customer' | 'far-end';

/** Transfers made and attempted. */
export interface TransferCounts {
  readonly madeInCall: number;
  readonly triedInCall: number;
  /** Transfers on the agent's calls since 00:00 UTC, by tool or API; failed ones count, because they rang. */
  readonly triedToday: number;
}

/** Why one more transfer may not be made, in words. */
export const TRANSFER_REFUSALS = {
  made: 'this call was transferred already',
  'had-its-attempts': 'this call has used its attempts',
  'too-many-today': 'its agent has used its transfers of the day',
} as const;

/** Why one more transfer may not be made. */
export type TransferRefusal = keyof typeof TRANSFER_REFUSALS;

/**
 * Why one more transfer may not be made; undefined when it may. The limit per call applies to the agent and the far
 * end: after a model's third failure, a person can still transfer the call. The limit per day applies to all. A far end
 * that was moved may be moved again.
 */
export function refusalOfTransfer(
  counts: TransferCounts,
  asker: TransferAsker,
): TransferRefusal | undefined {
  if (asker === 'agent' && counts.madeInCall > 0) return 'made';
  if (asker !== 'customer' && counts.triedInCall >= ATTEMPTS_A_CALL_MAX) return 'had-its-attempts';
  return counts.triedToday >= TRANSFERS_A_DAY_MAX ? 'too-many-today' : undefined;
}

/** Counts the transfers on every agent's calls by UTC day, since the start of the process. */
export class TransferCap {
  readonly #clock: Clock;
  #day = 0;
  #triedToday = new Map<string, number>();

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** The attempts of one call. To be made once for each. */
  ofCall(agentId: string): CallTransfers {
    return new CallTransfers(agentId, () => this.#today);
  }

  get #today(): Map<string, number> {
    const day = Math.floor(this.#clock.nowMs() / DAY_MS);
    if (day !== this.#day) this.#triedToday = new Map();
    this.#day = day;
    return this.#triedToday;
  }
}

/** The transfers of one call, tried and made. */
export class CallTransfers {
  readonly #agentId: string;
  readonly #today: () => Map<string, number>;
  #madeInCall = 0;
  #triedInCall = 0;

  /** @param today the tries of this UTC day, by agent. */
  constructor(agentId: string, today: () => Map<string, number>) {
    this.#agentId = agentId;
    this.#today = today;
  }

  /** Counts one more attempt, unless it may not be made. @returns why not; undefined when it may. */
  begin(asker: TransferAsker): TransferRefusal | undefined {
    const triedToday = this.#today().get(this.#agentId) ?? 0;
    const counts = { madeInCall: this.#madeInCall, triedInCall: this.#triedInCall, triedToday };
    const refusal = refusalOfTransfer(counts, asker);
    if (refusal !== undefined) return refusal;
    this.#triedInCall += 1;
    this.#today().set(this.#agentId, triedToday + 1);
    return undefined;
  }

  /** The caller is connected to a third party. A third party in a three-way call does not count: it may leave again. */
  made(): void {
    this.#madeInCall += 1;
  }

  /** The third party has hung up and the caller is back: the agent may try another one. Attempts still count. */
  over(): void {
    this.#madeInCall = 0;
  }
}

/** The agent's own list goes before the account's, where both have a label. */
export function transferRulesOf(
  agent: Agent,
  brief: ConversationBrief,
  account: Account | undefined,
): TransferRules {
  const allowedCountries = account?.allowedCountries ?? undefined;
  return {
    targets: [...agent.settings.transferTargets, ...(account?.transferTargets ?? [])],
    systemPrompt: brief.systemPrompt,
    agentNumber: agent.phoneNumber,
    ownNumbers: agent.phoneNumber === null ? [] : [agent.phoneNumber],
    ...(allowedCountries === undefined ? {} : { allowedCountries }),
  };
}
