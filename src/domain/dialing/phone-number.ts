/** Telephone numbers in E.164 form, checked once where they come in; pure */

import type { Scope } from '../agent/agent.ts';
import { unprocessable } from '../service-error.ts';
import { phoneLibrary } from './phone-library.ts';

/** A number in E.164 form, of a length that its country has. */
type PhoneNumber = string & { readonly brand: 'PhoneNumber' };

/** Characters that a message repeats of a text that is not a number. */
const SHOWN_CHARS = 32;

const E164 = /^\+[1-9]\d{6,14}$/;

/** Whether the text has the form of E.164; whether its country has such numbers is not looked up. */
export function isE164(text: string): boolean {
  return E164.test(text);
}

/** Whether the text is E.164 and of a length that exists in the country of its calling code. */
export function isPhoneNumber(text: string): text is PhoneNumber {
  return E164.test(text) && phoneLibrary().parsePhoneNumberFromString(text)?.isPossible() === true;
}

/**
 * Reads a telephone number as customers write it in JSON.
 *
 * @param path Where it was written, such as `phoneNumber`.
 * @throws {ServiceError} UNPROCESSABLE when it is not E.164, or of an impossible length for its country.
 * @see ITU-T E.164 section 6
 */
export function parsePhoneNumber(text: string, path: string): PhoneNumber {
  if (!isPhoneNumber(text)) {
    throw unprocessable(
      `${cannotUse(path, text)}: expected a possible number in E.164 form, such as +390612345678`,
    );
  }
  return text;
}

/** The beginning of a refusal of a number. @param path Where it was written, such as `phoneNumber`. */
export function cannotUse(path: string, text: string): string {
  return `Cannot use ${path} "${text.slice(0, SHOWN_CHARS)}"`;
}

/** A number that an agent holds. */
export interface HeldNumber {
  readonly number: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly accountId: string;
}

/** Finds which agents hold which numbers. */
export interface NumberHolders {
  /** Numbers of the scope's agents, sorted. */
  ofScope(scope: Scope): Promise<readonly HeldNumber[]>;

  /** Numbers of all live agents of the installation, sorted; 10,000 at most. */
  everyLive(): Promise<readonly HeldNumber[]>;

  /** The live agent with this number, of any account. */
  liveHolderOf(number: string): Promise<HeldNumber | undefined>;
}
