/** Who may get a message of a call: the other party, where the dial policy allows the number; pure */
import type { Call } from '../call/call.ts';
import { type DialRules, decideDial } from '../dialing/dial-policy.ts';
import { phoneLibrary } from '../dialing/phone-library.ts';
import { isPhoneNumber } from '../dialing/phone-number.ts';

/** Kinds of number that get no messages. */
const WITHOUT_SMS: readonly (string | undefined)[] = ['FIXED_LINE', 'TOLL_FREE'];

/** The number of the other party, as signalling gave it. */
export function otherPartyOf({ direction, from, to }: Pick<Call, 'direction' | 'from' | 'to'>) {
  return direction === 'inbound' ? from : to;
}

/** The recipient in E.164, or why there is none, in words for the model. */
export type RecipientDecision =
  | { readonly isAllowed: true; readonly number: string }
  | { readonly isAllowed: false; readonly reason: string };

/**
 * Decides whether the number may get messages, by the policy of calls and the kind of the number.
 *
 * @param rules.homeNumbers Numbers whose country is allowed by default, best first, such as the agent's; texts that are no
 *   numbers, such as a sender's name, are skipped.
 */
export function decideRecipient(
  text: string,
  rules: {
    readonly allowedCountries: readonly string[] | undefined;
    readonly homeNumbers: readonly (string | null)[];
  },
): RecipientDecision {
  const isNumber = (one: string | null): one is string => one !== null && isPhoneNumber(one);
  const dialRules: DialRules = {
    allowedCountries: rules.allowedCountries,
    homeNumber: rules.homeNumbers.find(isNumber) ?? null,
    isOwnNumber: (number) => rules.homeNumbers.includes(number),
  };
  const decision = decideDial(text, dialRules);
  if (!decision.isAllowed) {
    return { isAllowed: false, reason: "the caller's number cannot get messages" };
  }
  const type = phoneLibrary().parsePhoneNumberFromString(decision.number)?.getType();
  if (!WITHOUT_SMS.includes(type)) return decision;
  return { isAllowed: false, reason: "the caller's number is a landline, which gets no messages" };
}
