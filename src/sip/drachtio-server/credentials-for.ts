/** Where the front gets user names and passwords from; pure */
import type { DigestCredentials } from '../digest/digest.ts';

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
