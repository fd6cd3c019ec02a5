/** Secrets that a record keeps for the server at its URL, such as a password; pure */
import { bodyFault } from './service-error.ts';

/**
 * Requires that the secret of a record is sent again where a change of the URL leads to another server, which would get the
 * stored one otherwise. Call it for a change without the secret.
 *
 * @param path Of the secret in the body.
 * @param urls Of the record; null for none. They may have places in the path and the query.
 * @throws {ServiceError} VALIDATION_ERROR when they lead to two servers.
 */
export function requireSecretAgain(
  path: string,
  urls: { readonly before: string | null; readonly after: string | null },
): void {
  if (serverOf(urls.before) === serverOf(urls.after)) return;
  throw bodyFault(path, 'the url leads to another server: send the secret again');
}

/** Not `origin`, which is the same for all servers of a scheme such as `smpp`. */
function serverOf(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  const { host, protocol } = new URL(url);
  return `${protocol}//${host}`;
}
