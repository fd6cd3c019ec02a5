/** URLs of custom tools: places such as `{orderId}`, and what arguments become in them; pure */
import { ServiceError } from '../service-error.ts';
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
