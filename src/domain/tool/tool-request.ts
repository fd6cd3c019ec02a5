/** URLs and headers of requests that customers set up: places in URLs, and secrets that are kept for a server; pure */
import { bodyFault, ServiceError } from '../service-error.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../webhook/webhook-url.ts';

const PLACE = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const STAND_IN = 'argument';

/** Names of the places, in their order. */
export function placesOf(url: string): readonly string[] {
  return [...url.matchAll(PLACE)].map(([, name = '']) => name);
}

/**
 * Checks a URL with places. A place stands in the path or the query only: an argument never chooses the host.
 *
 * @throws {ServiceError} VALIDATION_ERROR when it is no URL that tools may use; UNPROCESSABLE when its host is refused.
 */
export function checkToolUrl(text: string, rules: WebhookUrlRules): void {
  const filled = text.replace(PLACE, STAND_IN);
  if (/[{}]/.test(filled)) throw wrong('expected places such as {orderId}, and no other braces');
  if (text.includes('#')) throw wrong('expected a URL without a fragment');
  const authority = /^[a-z][a-z\d+.-]*:\/\/[^/?\\]*/i.exec(text)?.[0] ?? text;
  if (/[{}]/.test(authority)) throw wrong('places may stand after the host only');
  checkWebhookUrl(filled, rules);
}

/**
 * Fills the places of a URL.
 *
 * @param url as `checkToolUrl` took it.
 * @param isInQuery whether arguments without a place go to the query.
 * @returns undefined where an argument would leave its place, such as `..` as a part of the path.
 */
export function filledUrl(
  url: string,
  args: Readonly<Record<string, unknown>>,
  isInQuery: boolean,
): URL | undefined {
  const text = url.replace(PLACE, (_, name: string) => encoded(textOf(args[name])));
  if (!URL.canParse(text)) return undefined;
  const filled = new URL(text);
  if (hasMoved(url, filled)) return undefined;
  if (isInQuery) {
    for (const [name, value] of Object.entries(restOf(url, args))) {
      filled.searchParams.append(name, textOf(value));
    }
  }
  return filled;
}

/** The arguments that have no place in the URL. */
export function restOf(
  url: string,
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const places = placesOf(url);
  return Object.fromEntries(Object.entries(args).filter(([name]) => !places.includes(name)));
}

/** An argument of dots alone is a step in the path, percent-encoded or not; an empty one joins two slashes. */
function hasMoved(template: string, filled: URL): boolean {
  const whole = new URL(template.replace(PLACE, STAND_IN));
  const shape = (url: URL) => url.pathname.split('/').map((part) => part !== '');
  return whole.origin !== filled.origin || shape(whole).join() !== shape(filled).join();
}

/** `encodeURIComponent` for half characters too, which have no encoding. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function wrong(message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot use url: ${message}`, [
    { path: 'url', message },
  ]);
}

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
 * Makes headers from a customer's request.
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

/** Hides secrets from the model where a service repeats its request, with the scheme before them (RFC 9110, 11.4) or without. */
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
