/** Answers a carrier's challenge for an application whose drachtio server passes challenges on: MD5 and SHA-256. */
import { DigestClient, type DigestCredentials } from '../digest/digest.ts';
import { SipError } from '../message/status.ts';
import { parseMessage } from '../parser/parser.ts';

/**
 * Makes the header that answers a 401 or 407.
 *
 * @param refused the request as it went out, whole.
 * @param response the challenge, whole.
 * @returns undefined when it cannot be read, or no password is known for it.
 */
export function answerChallenge(
  credentialsFor: CredentialsFor,
  refused: string,
  response: string,
): { readonly name: string; readonly value: string } | undefined {
  try {
    const request = parseMessage(Buffer.from(refused, 'utf8'));
    const { uri } = request;
    const from = request.get('from') ?? '';
    const digest = new DigestClient({
      credentialsFor: (realm) => credentialsFor(realm, uri, from),
    });
    if (!digest.accept(parseMessage(Buffer.from(response, 'utf8')), request)) return undefined;
    digest.authorize(request);
    const name =
      request.get('authorization') !== undefined ? 'authorization' : 'proxy-authorization';
    return { name, value: request.get(name) ?? '' };
  } catch (error) {
    if (!(error instanceof SipError)) throw error;
    // What cannot be read cannot be answered: the caller sees the refusal as it came.
    return undefined;
  }
}

/**
 * Whom to be when a server asks.
 *
 * @param realm as the server's challenge names it
 * @param requestUri where the refused request was going
 * @param from the refused request's From, which tells several accounts at one carrier apart
 * @returns undefined to pass the challenge on to the application
 */
export type CredentialsFor = (
  realm: string,
  requestUri: string,
  from: string | undefined,
) => DigestCredentials | undefined;
