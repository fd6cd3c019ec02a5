/** INVITE with Replaces: whose place its sender takes, or why not. */
import type { Logger } from '../../../lib/logger.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { SrfIncomingCall } from '../leg/incoming-call.ts';
import type { SrfLeg } from '../leg/srf-leg.ts';
import { readReplaces } from '../transfer/replaces.ts';
import { reasonOf, type SrfRequest } from './srf.ts';

/** What an INVITE is: an ordinary call, one in the place of a leg's far end, or one to be refused. */
export type Replacement<Replaced> =
  | { readonly kind: 'none' }
  | { readonly kind: 'replaces'; readonly leg: Replaced }
  | {
      readonly kind: 'refused';
      readonly sipStatus: number;
      readonly headers: Record<string, string>;
    };

/**
 * Reads Replaces.
 *
 * @param trunk of the INVITE. One that accepts no transfers ignores the header, and refuses it where it is required.
 * @param legs of all calls. A dialog of a trunk that does not allow the source looks like one that does not exist.
 * @see RFC 3891 section 3
 */
export function replacementOf<
  Replaced extends Pick<SrfLeg, 'isReplaceable' | 'replacementRefusal'>,
>(
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

/** Answers the call in the place of the leg's far end, which gets BYE. Never rejects. */
export async function replaceFarEnd(
  leg: Pick<SrfLeg, 'replace'>,
  call: Pick<SrfIncomingCall, 'answer'>,
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
