/** Headers that customers may add to requests of this server; pure */

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
