/** Sends a request inside a dialog, and waits for its answer no longer than SIP does. */
import type { Clock } from '../../lib/clock.ts';
import { TRANSACTION_MS, within } from '../limit.ts';
import type { SrfDialog, SrfMessageParts, SrfResponse } from './srf.ts';

export interface DialogPeer {
  readonly dialog: SrfDialog;
  readonly clock: Clock;
}

/**
 * Resolves with the final response, whichever it is.
 *
 * @throws {Error} when the dialog is over, the server is out of reach, or no answer comes within 32 s.
 */
export function sendInDialog(
  { dialog, clock }: DialogPeer,
  method: string,
  parts: SrfMessageParts = {},
): Promise<SrfResponse> {
  return within(clock, TRANSACTION_MS, dialog.request({ ...parts, method }));
}
