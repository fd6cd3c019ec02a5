/** Transfers that a call's far end asks for by REFER: the dial policy, the limits, and what the timeline keeps. */
import type { Account } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import { type DialDecision, decideDial, RINGS_HERE } from '../../domain/dialing/dial-policy.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { IncomingRefer, Leg } from '../../telephony/carrier.ts';
import type { CallParts, TalkingParty } from './call-parts.ts';
import type { SessionTimeline } from './session-timeline.ts';
import { type CallTransfers, TRANSFER_REFUSALS } from './transfer-cap.ts';

interface FarEndTransfersOptions {
  readonly parts: Pick<CallParts, 'isOwnNumber' | 'accountOf'>;
  readonly agent: Agent;
  readonly leg: Leg;
  /** Undefined without limits. */
  readonly attempts: CallTransfers | undefined;
  readonly party: () => Pick<TalkingParty, 'transferPending' | 'farEndMoved'> | undefined;
  /** Whether the caller and another party talk on without the agent. */
  readonly hasAgentLeft: () => boolean;
  readonly timeline: Pick<SessionTimeline, 'add'>;
  readonly log: Logger;
}

/** A far end is told nothing of agents. */
const REFUSALS = { ...TRANSFER_REFUSALS, 'too-many-today': 'the transfers of the day are used up' };

/** Decides about each REFER of one call. */
export class FarEndTransfers {
  readonly #options: FarEndTransfersOptions;

  constructor(options: FarEndTransfersOptions) {
    this.#options = options;
  }

  /** Sets the listeners of the leg. Once. */
  listen(): void {
    const { leg, party, timeline, log } = this.#options;
    leg.onRefer?.((refer) => void this.#decide(refer));
    leg.onMoved?.((method) => {
      timeline.add('far_end_transfer', { method });
      log.info({ method }, 'the far end moved the call to another party');
      party()?.farEndMoved();
    });
  }

  /** Never rejects. */
  async #decide(refer: IncomingRefer): Promise<void> {
    try {
      const refusal = await this.#refusalOf(refer.number);
      if (refusal === undefined) await this.#follow(refer);
      else refer.refuse(refusal.sipStatus, refusal.why);
    } catch (error) {
      const { log, timeline } = this.#options;
      log.warn({ err: error }, 'the transfer by the far end failed');
      timeline.add('far_end_transfer_failed', { reason: messageOf(error) });
      refer.refuse(500, 'the server could not decide about it');
    }
  }

  async #refusalOf(
    number: string,
  ): Promise<{ readonly sipStatus: number; readonly why: string } | undefined> {
    const { agent, attempts, hasAgentLeft, parts, timeline } = this.#options;
    if (hasAgentLeft()) return { sipStatus: 491, why: REFUSALS.made };
    // Counted before the policy, so that no call gets more than a few answers out of it.
    const cap = attempts?.begin('far-end');
    if (cap !== undefined) return { sipStatus: 603, why: REFUSALS[cap] };
    const decision = decideRefer(number, agent, await parts.accountOf(agent));
    const isAllowed = decision.isAllowed && !(await parts.isOwnNumber(decision.number));
    if (isAllowed) return undefined;
    const why = decision.isAllowed ? RINGS_HERE : decision.reason;
    timeline.add('far_end_transfer_failed', { reason: why });
    return { sipStatus: 403, why };
  }

  /** Meanwhile the silence timeout is off: the far end waits, or has left. */
  async #follow(refer: IncomingRefer): Promise<void> {
    const { party } = this.#options;
    party()?.transferPending(true);
    try {
      await refer.follow();
    } finally {
      party()?.transferPending(false);
    }
  }
}

/**
 * Whether the number of a REFER may be called: as the agent's own transfers, but no list need name it.
 *
 * Without allowed countries it must be in the country of the agent's number; without both it is refused.
 */
export function decideRefer(
  number: string,
  agent: Pick<Agent, 'phoneNumber'>,
  account: Pick<Account, 'allowedCountries'> | undefined,
): DialDecision {
  return decideDial(number, {
    allowedCountries: account?.allowedCountries ?? undefined,
    homeNumber: agent.phoneNumber,
    isOwnNumber: (own) => own === agent.phoneNumber,
  });
}
