/** Numbers that want no messages, and the words by which their owners say so. */

import type { Scope } from '../agent/agent.ts';
import type { PageRange } from '../ids.ts';

/** A number that gets no messages of an account and environment. */
export interface OptOut {
  /** E.164. */
  readonly number: string;
  readonly createdAt: Date;
}

/** Keeps the opt-outs of an account and environment. They outlive calls: an erased one would be a message again. */
export interface OptOutStore {
  /** Adds a number; one that is there stays as it is. */
  add(scope: Scope, optOut: OptOut): Promise<void>;

  /** @returns false where it was not there. */
  remove(scope: Scope, number: string): Promise<boolean>;

  /** Newest first. */
  list(
    scope: Scope,
    page: PageRange,
  ): Promise<{ readonly optOuts: readonly OptOut[]; readonly total: number }>;
}

/** Words that end messages, as a whole text. @see CTIA, Messaging Principles and Best Practices, 5.1.3 */
const STOP_WORDS = new Set([
  ...['STOP', 'STOPALL', 'STOP ALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE'],
  ...['STOPP', 'ABMELDEN', 'ARRET', 'ARRÊT', 'BAJA', 'ALTO', 'PARAR', 'FERMA', 'AFMELDEN'],
]);

/** Words that let messages come again. */
const START_WORDS = new Set(['START', 'UNSTOP', 'SUBSCRIBE', 'OPTIN']);

/** What the text of an incoming message means for later messages; undefined for any other text. */
export function optOutWord(text: string): 'stop' | 'start' | undefined {
  const word = text
    .normalize('NFKC')
    .replace(/[^\p{L}\s]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toUpperCase();
  if (STOP_WORDS.has(word)) return 'stop';
  return START_WORDS.has(word) ? 'start' : undefined;
}

/** Takes an incoming message: an opt-out word changes the list, and nothing of any message is kept. */
export async function takeIncoming(
  { from: number, text }: { readonly from: string; readonly text: string },
  scope: Scope,
  { smsOptOuts, now }: { readonly smsOptOuts: OptOutStore; readonly now: Date },
): Promise<void> {
  const word = optOutWord(text);
  if (word === 'stop') await smsOptOuts.add(scope, { number, createdAt: now });
  if (word === 'start') await smsOptOuts.remove(scope, number);
}
