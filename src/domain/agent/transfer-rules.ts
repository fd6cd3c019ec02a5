/** Transfer targets that a customer may choose over REST, and the modes of a transfer; pure */
import type { Account } from '../account/account.ts';
import type { Call } from '../call/call.ts';
import { decideDial, RINGS_HERE } from '../dialing/dial-policy.ts';
import { cannotUse, isPhoneNumber } from '../dialing/phone-number.ts';
import { unprocessable } from '../service-error.ts';
import type { Agent } from './agent.ts';

/** Facts that a transfer request is checked against. */
export interface TransferFacts {
  readonly call: Pick<Call, 'direction' | 'from' | 'to' | 'environment'>;
  /** Undefined where it was deleted. */
  readonly agent: Agent | undefined;
  readonly account: Pick<Account, 'allowedCountries' | 'transferTargets'>;
  /** The live agent with a number, of any account. */
  readonly holderOf: (number: string) => Promise<Agent | undefined>;
}

/**
 * Reads the target of a transfer. The dial policy checks it as it checks a call from our number on this call.
 *
 * @returns E.164.
 * @throws {ServiceError} UNPROCESSABLE when the dial policy refuses the number.
 */
export async function transferTarget(text: string, facts: TransferFacts): Promise<string> {
  const { account, agent, call, holderOf } = facts;
  const homeNumber = ourNumber(call) ?? agent?.phoneNumber ?? null;
  const listed = [...(agent?.settings.transferTargets ?? []), ...account.transferTargets];
  const isListed = listed.some(({ number }) => number === text);
  const decision = decideDial(text, {
    // Without a home country, a listed number is allowed in any country: the list names it as a number to call.
    allowedCountries:
      account.allowedCountries ?? (homeNumber === null && isListed ? 'any' : undefined),
    homeNumber,
    isOwnNumber: (number) => number === agent?.phoneNumber,
    isSimulated: call.environment === 'test',
    mayBeUnassigned: true,
  });
  const isLoop = decision.isAllowed && (await holderOf(decision.number)) !== undefined;
  if (decision.isAllowed && !isLoop) return decision.number;
  const reason = decision.isAllowed ? RINGS_HERE : decision.reason;
  throw unprocessable(`${cannotUse('to', text)}: ${reason}`);
}

/** Our side's number; undefined where it is none, as on a call from a browser. */
function ourNumber({ direction, from, to }: TransferFacts['call']): string | undefined {
  const number = direction === 'inbound' ? to : from;
  return isPhoneNumber(number) ? number : undefined;
}

/**
 * `cold`: connects the third party with the caller at once, and the agent leaves. `warm`: the agent first announces the
 * caller to the third party alone. `three-way`: as `warm`, then the agent stays and talks with both.
 */
export const TRANSFER_MODES = ['cold', 'warm', 'three-way'] as const;

/** How a call is transferred. */
export type TransferMode = (typeof TRANSFER_MODES)[number];

/** Mode of a transfer, and the announcement to the third party. */
export interface TransferManner {
  readonly mode: TransferMode;
  /** The caller's request, in a sentence or two; empty when unknown. */
  readonly summary: string;
}

/** The default: a blind transfer without announcement. */
export const PLAIN_TRANSFER: TransferManner = { mode: 'cold', summary: '' };
