/** Ends calls whose process, or whose connection to the SIP server, is gone, from their journal entries. */
import type { OpenDialog, OpenInvite } from '../../../domain/call/open-dialog.ts';
import type { Clock } from '../../../lib/clock.ts';
import { answerOrphan, reasonOf, type SrfClient, type SrfRequestOptions } from './srf.ts';

/** Leaves room for requests of the old process that were not saved. RFC 3261, 12.2.2 asks for a greater number only. */
const SEQUENCE_STEP = 1_000;

/** Wait for a 2xx that crosses a CANCEL. */
const CROSSING_MS = 2_000;

const RETRY_AFTER_SECONDS = 5;

/** drachtio-server puts in the target of the dialog or transaction. */
const ITS_TARGET = 'sip:placeholder';

/**
 * Cancels an outgoing INVITE, or refuses an incoming one, that has no final response.
 *
 * @throws {Error} when the server refuses, or cannot be reached.
 */
export type EndInvite = (invite: OpenInvite, call: OpenDialog) => Promise<void>;

/** Ends INVITEs through a drachtio-server, which takes a transaction's name from any connection. */
export function invitesOver(srf: SrfClient, clock: Clock): EndInvite {
  return async (invite, call) => {
    if (invite.direction === 'out') await cancel(srf, clock, invite, call);
    else {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      await answerOrphan(srf, invite, { status: 503, headers });
    }
  };
}

/** Sends BYE. Resolves with the status of the final response. */
export function sayBye(srf: SrfClient, call: OpenDialog): Promise<number> {
  const headers: Record<string, string> = {
    'Call-ID': call.sipCallId,
    From: call.localParty,
    To: call.remoteParty,
    CSeq: `${call.sequence + SEQUENCE_STEP} BYE`,
    Reason: 'SIP;cause=503;text="the server was restarted"',
  };
  if (call.routes.length > 0) headers.Route = call.routes.join(', ');
  return sendAndWait(srf, call.remoteTarget, { method: 'BYE', headers });
}

/** Cancels an outgoing call; one that was answered meanwhile gets ACK and BYE. */
async function cancel(
  srf: SrfClient,
  clock: Clock,
  { transactionId: stackTxnId }: OpenInvite,
  call: OpenDialog,
): Promise<void> {
  const stackDialogId = dialogIdOf(call);
  try {
    await send(srf, ITS_TARGET, { method: 'CANCEL', stackTxnId });
    await new Promise<void>((resolve) => clock.after(CROSSING_MS, resolve));
  } catch (error) {
    // The transaction ended with a refusal.
    if (/unknown transaction|transaction not found/.test(reasonOf(error))) return;
    await send(srf, ITS_TARGET, { method: 'ACK', stackDialogId });
  }
  await send(srf, ITS_TARGET, { method: 'BYE', stackDialogId }).catch((error: unknown) => {
    // Without an answer there is no dialog.
    if (!/unable to find dialog/.test(reasonOf(error))) throw error;
  });
}

/** Name that drachtio-server gives to the dialog of an outgoing call. */
function dialogIdOf({ sipCallId, localParty }: OpenDialog): string {
  const [, tag = ''] = /;\s*tag=([^;\s]+)/i.exec(localParty) ?? [];
  return `${sipCallId};from-tag=${tag}`;
}

/** Resolves when the server has sent it. */
function send(srf: SrfClient, uri: string, options: SrfRequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    srf.request(uri, options, (error, request) => {
      if (request === undefined) reject(new Error(reasonOf(error), { cause: error }));
      else resolve();
    });
  });
}

/** Resolves with the status of the final response. Its listener is added in the callback: both may be in one packet. */
function sendAndWait(srf: SrfClient, uri: string, options: SrfRequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    srf.request(uri, options, (error, request) => {
      if (request === undefined) reject(new Error(reasonOf(error), { cause: error }));
      else request.on('response', ({ status }) => status >= 200 && resolve(status));
    });
  });
}
