/** Headers that customers may add to requests of this server, those of tools and MCP servers, and the secrets in them; pure */
import { bodyFault } from '../service-error.ts';
import { requireSecretAgain } from '../stored-secret.ts';

/** A header of a request. */
export interface ToolHeader {
  readonly name: string;
  readonly value: string;
  /** Whether the interface never shows the value. */
  readonly secret: boolean;
}

/** A header as customers send it; null leaves the secret value that is stored. */
export interface HeaderDraft {
  readonly name: string;
  readonly value: string | null;
  readonly secret?: boolean | undefined;
}

/**
 * Makes headers of what a customer sends.
 *
 * @param before the stored ones.
 * @throws {ServiceError} VALIDATION_ERROR when a name or a value is wrong, or a name comes twice.
 */
export function headersOf(
  drafts: readonly HeaderDraft[],
  before: readonly ToolHeader[],
): readonly ToolHeader[] {
  const names = drafts.map(({ name }) => name.toLowerCase());
  return drafts.map(({ name, value, secret }, index) => {
    const at = `headers.${index}`;
    const key = name.toLowerCase();
    const nameFault = headerNameFault(name);
    if (nameFault !== undefined) throw bodyFault(at, nameFault);
    if (names.indexOf(key) !== index) throw bodyFault(at, 'names must differ');
    const stored = before.find((header) => header.name.toLowerCase() === key && header.secret);
    const text = value ?? stored?.value ?? '';
    const valueFault = headerValueFault(text);
    if (valueFault !== undefined) throw bodyFault(`${at}.value`, valueFault);
    // A kept secret stays one: otherwise the next answer would show it.
    return { name, value: text, secret: value === null || secret === true };
  });
}

/**
 * Requires that secret headers are sent again where a change leads to another server and leaves one its stored value.
 *
 * @param change.headers of the change; undefined keeps all.
 * @throws {ServiceError} VALIDATION_ERROR
 */
export function requireSecretHeadersAgain(
  before: { readonly url: string; readonly headers: readonly ToolHeader[] },
  change: { readonly url: string; readonly headers: readonly HeaderDraft[] | undefined },
): void {
  const isKept =
    change.headers?.some(({ value }) => value === null) ??
    before.headers.some(({ secret }) => secret);
  if (isKept) requireSecretAgain('headers', { before: before.url, after: change.url });
}

/** Shorter values are words that any answer may hold. */
const SECRET_CHARS_MIN = 6;

/** A service that repeats what it was sent gives no secret to the model, with the scheme before it (RFC 9110, 11.4) or without. */
export function withoutSecrets(text: string, headers: readonly ToolHeader[]): string {
  return headers
    .filter(({ secret }) => secret)
    .flatMap(({ value }) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((secret) => secret.length >= SECRET_CHARS_MIN)
    .reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
}

/** @see RFC 9110, 5.6.2: token. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that the server writes itself, or that would change where the request ends or goes. */
const OWN =
  /^(?:host|connection|content-.*|transfer-encoding|upgrade|keep-alive|te|trailer|expect|proxy-.*|user-agent|accept-encoding|x-service-.*|webhook-.*)$/i;

/** Why a header of that name may not be added; undefined when it may. */
export function headerNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return 'expected a header name';
  return OWN.test(name) ? 'the server sets this header' : undefined;
}

/** Visible ASCII with blanks inside: undici refuses the rest, and a line break would begin another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/** Why a header may not have that value; undefined when it may. */
export function headerValueFault(value: string): string | undefined {
  return VALUE.test(value) ? undefined : 'expected visible ASCII characters';
}
