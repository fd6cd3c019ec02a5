/** INVITE with Replaces: the dialog that it names, and whose place its sender takes, or why not. */
import type { Logger } from '../../../lib/logger.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { reasonOf, type SrfRequest } from '../carrier/srf.ts';

/** Longer values are refused unread. */
const CHARS_MAX = 512;

/** A dialog as its far end names it: the To tag is ours. */
export interface ReplacedDialog {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** Whether it may be replaced only while it is not answered. */
  readonly isEarlyOnly: boolean;
}

const CALL_ID = /^[A-Za-z0-9\-.!%*_+`'~()<>:\\"/[\]?{}@]+$/;
const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

/**
 * Reads Replaces.
 *
 * @param header lines of several headers are joined with commas.
 * @returns undefined when it is malformed, or there are several.
 * @see RFC 3891 section 6.1
 */
export function readReplaces(header: string): ReplacedDialog | undefined {
  if (header.length > CHARS_MAX) return undefined;
  const [callId = '', ...params] = header.split(';').map((part) => part.trim());
  const fields = params.map((param) => param.split('=').map((part) => part.trim()));
  const areSound = fields.every(([name = '']) => TOKEN.test(name));
  const [localTag, remoteTag] = [tagOf(fields, 'to-tag'), tagOf(fields, 'from-tag')];
  if (!areSound || !CALL_ID.test(callId)) return undefined;
  if (localTag === undefined || remoteTag === undefined) return undefined;
  const isEarlyOnly = fields.some(([name = '']) => name.toLowerCase() === 'early-only');
  return { callId, localTag, remoteTag, isEarlyOnly };
}

/** Supported, towards a trunk that accepts transfers. RFC 3891, 4. */
export function extensionsOf(trunk: Trunk | undefined): Readonly<Record<string, string>> {
  return trunk?.acceptTransfers === true ? { Supported: 'replaces' } : {};
}

/** The tag of that name; undefined where it is not there exactly once, or is no token. */
function tagOf(fields: readonly (readonly string[])[], name: string): string | undefined {
  const [first, ...others] = fields.filter(([field = '']) => field.toLowerCase() === name);
  const [, tag = '', ...rest] = first ?? [];
  return others.length === 0 && rest.length === 0 && TOKEN.test(tag) ? tag : undefined;
}

/** A leg whose far end another party may replace. */
interface ReplaceableLeg {
  isReplaceable(dialog: ReplacedDialog, source: string): boolean;
  /** SIP status that refuses the other party now; undefined where it may come. */
  readonly replacementRefusal: number | undefined;
}

/** Kinds of INVITE: an ordinary call, one in the place of a leg's far end, or one to be refused. */
export type Replacement<Replaced> =
  | { readonly kind: 'none' }
  | { readonly kind: 'replaces'; readonly leg: Replaced }
  | {
      readonly kind: 'refused';
      readonly sipStatus: number;
      readonly headers: Record<string, string>;
    };

/**
 * Reads which leg an INVITE replaces.
 *
 * @param trunk of the INVITE. One that accepts no transfers ignores the header, and refuses it where it is required.
 * @param legs of all calls. A dialog of a trunk that does not allow the source looks like one that does not exist.
 * @see RFC 3891 section 3
 */
export function replacementOf<Replaced extends ReplaceableLeg>(
  request: Pick<SrfRequest, 'get' | 'source_address'>,
  trunk: Trunk | undefined,
  legs: readonly Replaced[],
): Replacement<Replaced> {
  const header = request.get('replaces');
  if (header === undefined) return { kind: 'none' };
  if (trunk?.acceptTransfers !== true) {
    const isRequired = /(?:^|,)\s*replaces\s*(?:,|$)/i.test(request.get('require') ?? '');
    return isRequired ? refused(420, { Unsupported: 'replaces' }) : { kind: 'none' };
  }
  const dialog = readReplaces(header);
  if (dialog === undefined) return refused(400);
  const leg = legs.find((each) => each.isReplaceable(dialog, request.source_address));
  if (leg === undefined) return refused(481);
  // Answered calls alone have a leg.
  if (dialog.isEarlyOnly) return refused(486);
  const { replacementRefusal } = leg;
  return replacementRefusal === undefined ? { kind: 'replaces', leg } : refused(replacementRefusal);
}

/** Answers the call, which replaces the leg's far end; the far end gets BYE. Never rejects. */
export async function replaceFarEnd<Answered>(
  leg: { replace(answerNext: () => Promise<Answered>): Promise<void> },
  call: { answer(): Promise<Answered> },
  log: Logger,
): Promise<void> {
  try {
    await leg.replace(() => call.answer());
  } catch (error) {
    log.info({ why: reasonOf(error) }, 'a party did not take the place of the far end');
  }
}

function refused(sipStatus: number, headers: Record<string, string> = {}): Replacement<never> {
  return { kind: 'refused', sipStatus, headers };
}
