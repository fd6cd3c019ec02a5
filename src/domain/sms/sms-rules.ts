/** Rules for messages of `send_sms`: text, links, GSM alphabet, recipient, and numbers that want none. */

import type { Scope } from '../agent/agent.ts';
import type { Call } from '../call/call.ts';
import { type DialRules, decideDial } from '../dialing/dial-policy.ts';
import { phoneLibrary } from '../dialing/phone-library.ts';
import { isPhoneNumber } from '../dialing/phone-number.ts';
import type { Page, PageRange } from '../ids.ts';

/** A message of more parts is refused: it costs as many messages. */
const PARTS_MAX = 4;

/** Characters of one message, and of each part of a longer one, whose header takes the rest. @see 3GPP TS 23.040, 9.2.3.24.1 */
const SIZES = { gsm: { single: 160, part: 153 }, ucs2: { single: 70, part: 67 } } as const;

/** How many messages of the network the text takes. */
export function smsPartsOf(text: string): number {
  const basic = gsmOctetsOf(text);
  const { single, part } = basic === undefined ? SIZES.ucs2 : SIZES.gsm;
  const { length } = basic ?? text;
  return length <= single ? 1 : Math.ceil(length / part);
}

/** Control characters except the line break, and invisible ones, such as those that change the direction of writing. */
const UNSEEN = /[^\P{Cc}\n]|\p{Cf}|\p{Zl}|\p{Zp}/u;

/** The dot of other scripts separates the labels of a host too. @see UTS 46, 2.3 */
const DOT = '[.。]';

/** Text that telephones turn into a link: a scheme, a host with a top-level domain, or an IP address, with the rest of the link. */
const LINK = new RegExp(
  [
    String.raw`[a-z][a-z\d+.-]*://\S*`,
    String.raw`(?:mailto|tel|sms|smsto|geo|data|javascript|intent|market|whatsapp|facetime):\S+`,
    String.raw`(?:[^\s@<>"'(),;:/]+@)?(?:[\p{L}\p{N}_-]+${DOT})+\p{L}[\p{L}\p{N}-]+(?:[/:?#]\S*)?`,
    String.raw`(?:\d{1,3}${DOT}){3}\d{1,3}(?:[/:?#]\S*)?`,
  ].join('|'),
  'giu',
);

/** Punctuation that ends the sentence, and is no part of the link before it. */
const SENTENCE_END = /[.,;:!?)\]}"'»”]+$/u;

/** The links that a telephone would find in a text. */
export function linksIn(text: string): readonly string[] {
  const found = text.normalize('NFKC').match(LINK) ?? [];
  return found.map((link) => link.replace(SENTENCE_END, ''));
}

/**
 * Whether a link leads to a place that the operator allows.
 *
 * @param allowed `https` URLs: a link has the host of one of them, and a path at or below its path.
 */
export function isLinkAllowed(link: string, allowed: readonly string[]): boolean {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(link) ? link : `https://${link}`;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /%2f|%5c|%2e/i.test(url.pathname)) return false;
  return allowed.some((place) => isBelow(url, new URL(place)));
}

function isBelow(url: URL, { origin, pathname }: URL): boolean {
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return url.origin === origin && (url.pathname === pathname || url.pathname.startsWith(folder));
}

/** Why the text may not be sent, in words that a model can act on; undefined when it may. */
export function textFault(text: string, allowedLinks: readonly string[]): string | undefined {
  if (text.trim() === '') return 'the text is empty';
  if (!text.isWellFormed() || UNSEEN.test(text)) {
    return 'the text holds characters that cannot be seen; write plain text';
  }
  const parts = smsPartsOf(text);
  if (parts > PARTS_MAX) return `the text is too long; shorten it to 150 characters or so`;
  const isAnyRefused = linksIn(text).some((link) => !isLinkAllowed(link, allowedLinks));
  if (!isAnyRefused) return undefined;
  const places =
    allowedLinks.length === 0 ? 'no links' : `only links to ${allowedLinks.join(', ')}`;
  return `a message may have ${places}; leave out other links and e-mail addresses, and write a blank after each full stop`;
}

/** Letters by code; the place of the escape holds nothing. @see 3GPP TS 23.038, 6.2.1 */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const ESCAPE = 0x1b;

/** Letters that come after the escape. @see 3GPP TS 23.038, 6.2.1.1 */
const EXTENDED: Readonly<Record<string, number>> = {
  ...{ '^': 0x14, '{': 0x28, '}': 0x29, '\\': 0x2f, '[': 0x3c },
  ...{ '~': 0x3d, ']': 0x3e, '|': 0x40, '€': 0x65 },
};

const EXTENDED_LETTERS = new Map(Object.entries(EXTENDED).map(([letter, code]) => [code, letter]));

/** A text in the alphabet, one octet a letter, two for extended ones; undefined where it has not all of its letters. */
export function gsmOctetsOf(text: string): readonly number[] | undefined {
  const codes = [...text].map(codesOf);
  return codes.every((code) => code !== undefined) ? codes.flat() : undefined;
}

function codesOf(letter: string): readonly number[] | undefined {
  const extended = EXTENDED[letter];
  if (extended !== undefined) return [ESCAPE, extended];
  const code = BASIC.indexOf(letter);
  return code < 0 || code === ESCAPE ? undefined : [code];
}

/** The text of octets; a blank for an extended letter that is unknown, as the standard has it. */
export function gsmTextOf(octets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < octets.length; at += 1) {
    const code = octets[at] ?? 0;
    if (code === ESCAPE) {
      at += 1;
      text += EXTENDED_LETTERS.get(octets[at] ?? 0) ?? ' ';
    } else text += BASIC[code] ?? '';
  }
  return text;
}

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

/** A number that gets no messages of an account and environment. */
export interface OptOut {
  /** E.164. */
  readonly number: string;
  readonly createdAt: Date;
}

/** Keeps the opt-outs of an account and environment. They are kept when calls are erased: otherwise messages would go out again. */
export interface OptOutStore {
  /** Adds a number; one that is there stays as it is. */
  add(scope: Scope, optOut: OptOut): Promise<void>;

  /** @returns false where it was not there. */
  remove(scope: Scope, number: string): Promise<boolean>;

  /** Newest first. */
  list(scope: Scope, page: PageRange): Promise<Page<OptOut>>;
}

/** Words that end messages, as a whole text. @see CTIA, Messaging Principles and Best Practices, 5.1.3 */
const STOP_WORDS = new Set([
  ...['STOP', 'STOPALL', 'STOP ALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE'],
  ...['STOPP', 'ABMELDEN', 'ARRET', 'ARRÊT', 'BAJA', 'ALTO', 'PARAR', 'FERMA', 'AFMELDEN'],
]);

/** Words that let messages come again. */
const START_WORDS = new Set(['START', 'UNSTOP', 'SUBSCRIBE', 'OPTIN']);

/** Effect of an incoming message on later messages, by its text; undefined for any other text. */
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

/** Takes an incoming message: an opt-out word changes the list, and no part of any message is kept. */
export async function takeIncoming(
  { from: number, text }: { readonly from: string; readonly text: string },
  scope: Scope,
  { smsOptOuts, now }: { readonly smsOptOuts: OptOutStore; readonly now: Date },
): Promise<void> {
  const word = optOutWord(text);
  if (word === 'stop') await smsOptOuts.add(scope, { number, createdAt: now });
  if (word === 'start') await smsOptOuts.remove(scope, number);
}
