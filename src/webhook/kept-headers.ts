/** Headers of a delivery attempt as its record keeps them: within limits, and without what lets others in; pure */
import type { KeptHeader } from '../domain/webhook/webhook-delivery.ts';

/** More of an answer says nothing about a receiver. */
const HEADERS_MAX = 40;
const VALUE_CHARS_MAX = 500;
const NAME_CHARS_MAX = 100;

/** Headers that may hold a receiver's secrets. */
const SECRET =
  /^(set-cookie2?|(proxy-)?authenticat(e|ion-info)|(proxy-)?authorization|www-authenticate)$/i;

const LEFT_OUT = '(left out)';

/** @param headers as undici gives or takes them; a header may have several values. */
export function keptHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): readonly KeptHeader[] {
  return Object.entries(headers)
    .flatMap(([name, values]) => [values ?? []].flat().map((value) => headerOf(name, value)))
    .slice(0, HEADERS_MAX);
}

function headerOf(name: string, value: string): KeptHeader {
  const kept = SECRET.test(name) ? LEFT_OUT : printable(value).slice(0, VALUE_CHARS_MAX);
  return { name: printable(name).slice(0, NAME_CHARS_MAX), value: kept };
}

/** HTTP allows bytes in values that no text has. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\uFFFD').toWellFormed();
}
