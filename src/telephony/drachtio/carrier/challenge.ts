/** The second try of a request that a carrier asked a password for; pure */
import type { SrfMessage, SrfResponse } from './srf.ts';

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
 * The headers of the second try: those of the first, in the same call with the next number, and the password's proof.
 *
 * @returns undefined when there is nothing to try.
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
