/** Where a customer may hand a call over to; pure */
import type { Account } from '../account/account.ts';
import type { Call } from '../call/call.ts';
import { decideDial } from '../dialing/dial-policy.ts';
import { isPhoneNumber } from '../dialing/phone-number.ts';
import { ServiceError } from '../service-error.ts';
import type { Agent } from './agent.ts';

/** What a message repeats of a text that is not a number. */
const SHOWN_CHARS = 32;

/** What a wish to hand a call over is judged by. */
export interface TransferFacts {
  readonly call: Pick<Call, 'direction' | 'from' | 'to' | 'environment'>;
  /** Undefined where it was deleted. */
  readonly agent: Agent | undefined;
  readonly account: Pick<Account, 'allowedCountries' | 'transferTargets'>;
  /** The live agent that has a number, whichever account it is of. */
  readonly holderOf: (number: string) => Agent | undefined;
}

/**
 * Reads the number that a call is to be handed over to. It is judged as a call from our number on it would be.
 *
 * @returns E.164.
 * @throws {ServiceError} UNPROCESSABLE when nobody may be called there.
 */
export function transferTarget(text: string, facts: TransferFacts): string {
  const { account, agent, call, holderOf } = facts;
  const homeNumber = ourNumber(call) ?? agent?.phoneNumber ?? null;
  const listed = [...(agent?.settings.transferTargets ?? []), ...account.transferTargets];
  const isListed = listed.some(({ number }) => number === text);
  const decision = decideDial(text, {
    // Without a home, whoever was put on a list as a number to call is in no wrong country.
    allowedCountries:
      account.allowedCountries ?? (homeNumber === null && isListed ? 'any' : undefined),
    homeNumber,
    isOwnNumber: (number) => number === agent?.phoneNumber || holderOf(number) !== undefined,
    isSimulated: call.environment === 'test',
    mayBeUnassigned: true,
  });
  if (decision.isAllowed) return decision.number;
  const shown = text.slice(0, SHOWN_CHARS);
  throw new ServiceError('UNPROCESSABLE', `Cannot use to "${shown}": ${decision.reason}`);
}

/** Our side's number; undefined where it is none, as on a call from a browser. */
function ourNumber({ direction, from, to }: TransferFacts['call']): string | undefined {
  const number = direction === 'inbound' ? to : from;
  return isPhoneNumber(number) ? number : undefined;
}

/**
 * `cold`: whoever picks up is with the caller at once, and the agent is gone. `warm`: is told alone first what it is about.
 * `three-way`: likewise, and then the agent stays and talks with both.
 */
export const TRANSFER_MODES = ['cold', 'warm', 'three-way'] as const;

export type TransferMode = (typeof TRANSFER_MODES)[number];

/** A way, and what whoever picks up is to know. */
export interface TransferManner {
  readonly mode: TransferMode;
  /** What the caller wants, in a sentence or two; empty when nobody said. */
  readonly summary: string;
}

/** How it is done where nobody says. */
export const PLAIN_TRANSFER: TransferManner = { mode: 'cold', summary: '' };
