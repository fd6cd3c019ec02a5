/** Answers a carrier's challenge on behalf of an application, with MD5 and SHA-256. */
import { DigestClient, type DigestCredentials } from '../digest/digest.ts';
import { ifSound } from '../message/status.ts';
import { parseMessage } from '../parser/parser.ts';

/**
 * Makes the header that answers a 401 or 407.
 *
 * @param refused the whole request as sent.
 * @param response the whole challenge.
 * @returns undefined for an unreadable challenge, and without a password.
 */
export function answerChallenge(
  credentialsFor: CredentialsFor,
  refused: string,
  response: string,
): { readonly name: string; readonly value: string } | undefined {
  // An unreadable challenge cannot be answered: the caller sees the refusal itself.
  return ifSound(() => {
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
  });
}

/**
 * Credentials for a challenge.
 *
 * @param realm of the challenge.
 * @param requestUri of the refused request.
 * @param from of the refused request; distinguishes several accounts at one carrier.
 * @returns undefined to pass the challenge on to the application.
 */
export type CredentialsFor = (
  realm: string,
  requestUri: string,
  from: string | undefined,
) => DigestCredentials | undefined;
