/** Requests over drachtio-srf: inside a dialog, with SIP's time limit, and again after a challenge. */
import { type Clock, TRANSACTION_MS, within } from '../../../lib/clock.ts';
import {
  codeOf,
  type SrfClient,
  type SrfDialog,
  type SrfMessage,
  type SrfMessageParts,
  type SrfResponse,
  sendOver,
} from '../carrier/srf.ts';

/** A server answers at once; a slow far end is no reason to end a call. */
const PROBE_MS_MAX = 2_000;

/** drachtio-server replaces it by the remote target of the dialog. */
const WHEREVER_IT_GOES = 'sip:placeholder';

/** A dialog, the client that sends its requests, and the clock of their time limits. */
export interface DialogPeer {
  readonly srf: SrfClient;
  readonly dialog: SrfDialog;
  readonly clock: Clock;
}

/**
 * Resolves with the final response of any status.
 *
 * @throws {Error} when the dialog is over, the server is unreachable, or after 32 s.
 */
export function sendInDialog(
  peer: DialogPeer,
  method: string,
  parts: SrfMessageParts = {},
): Promise<SrfResponse> {
  return within(peer.clock, TRANSACTION_MS, exchange(peer, { ...parts, method }));
}

/** Whether the server or the far end has lost the dialog. Settles within seconds, and never rejects. */
export async function isDialogGone(peer: DialogPeer): Promise<boolean> {
  try {
    const { status } = await within(peer.clock, PROBE_MS_MAX, sendInDialog(peer, 'OPTIONS'));
    return status === 481;
  } catch (error) {
    return codeOf(error) === 'ENODIALOG';
  }
}

async function exchange(
  { srf, dialog }: DialogPeer,
  request: SrfMessageParts & { readonly method: string },
): Promise<SrfResponse> {
  try {
    return await dialog.request(request);
  } catch (error) {
    // A dialog clings to the connection that it began on; the server knows it on a later one too.
    if (codeOf(error) !== 'ESOCKETDESTROYED') throw error;
    const parts = { ...request, stackDialogId: dialog.id };
    return (await sendOver(srf, WHEREVER_IT_GOES, parts)).answered;
  }
}

/** An Authorization or Proxy-Authorization header. */
export interface AuthorizationHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * Answers a challenge.
 *
 * @param refused the request as it went out, whole.
 * @param response the 401 or 407, whole.
 * @returns undefined when we have no password for it.
 * @see RFC 7616
 */
export type AnswerChallenge = (
  refused: string,
  response: string,
) => AuthorizationHeader | undefined;

/**
 * Headers of the retry with credentials: the same call with the next CSeq.
 *
 * @returns undefined for any other response, and without a password.
 * @see RFC 3261 section 22.2
 */
export function secondTry(options: {
  readonly refused: SrfMessage;
  readonly response: SrfResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerChallenge: AnswerChallenge | undefined;
}): Record<string, string> | undefined {
  const { refused, response, headers, answerChallenge } = options;
  if (response.status !== 401 && response.status !== 407) return undefined;
  const proof = answerChallenge?.(refused.raw, response.raw);
  if (proof === undefined) return undefined;
  const [number = '1', method = ''] = (refused.get('cseq') ?? '').trim().split(/\s+/);
  return {
    ...headers,
    'Call-ID': refused.get('call-id') ?? '',
    From: refused.get('from') ?? '',
    CSeq: `${Number(number) + 1} ${method}`,
    [proof.name]: proof.value,
  };
}
