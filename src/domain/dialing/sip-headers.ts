/** SIP headers that customers put into the INVITE of an outbound call; pure */

/** Limits of `headers` in POST /api/calls/outbound. */
export const SIP_HEADER_LIMITS = {
  headersMax: 10,
  nameCharsMax: 64,
  valueCharsMax: 255,
} as const;

/** X- and a token, or User-to-User: no header that routes, names or authenticates a call. RFC 3261, 25.1 and RFC 7433. */
export const SIP_HEADER_NAME = "^([Xx]-[A-Za-z0-9\\-.!%*_+`'~]{1,62}|[Uu]ser-[Tt]o-[Uu]ser)$";

/** Visible ASCII, with spaces inside: no line break, which would begin another header. */
export const SIP_HEADER_VALUE = '^[!-~]([ -~]*[!-~])?$';

/** A wrong header: its name as it was given, empty for all of them together, and what was expected. */
export interface SipHeaderFault {
  readonly name: string;
  readonly message: string;
}

const NAME = new RegExp(SIP_HEADER_NAME);
const VALUE = new RegExp(SIP_HEADER_VALUE);

/** Everything that is wrong with the headers of one call; empty where they can be sent. */
export function faultsOfSipHeaders(headers: Readonly<Record<string, unknown>>): SipHeaderFault[] {
  const { headersMax, valueCharsMax } = SIP_HEADER_LIMITS;
  const entries = Object.entries(headers);
  if (entries.length > headersMax) {
    return [{ name: '', message: `expected ${headersMax} headers at most` }];
  }
  const names = entries.map(([name]) => name.toLowerCase());
  return entries.flatMap(([name, value], index) => {
    if (!NAME.test(name)) return { name, message: 'expected X- and a token, or User-to-User' };
    if (names.indexOf(name.toLowerCase()) < index) {
      return { name, message: 'expected each name once, in upper or lower case' };
    }
    const isText = typeof value === 'string' && value.length <= valueCharsMax && VALUE.test(value);
    return isText
      ? []
      : {
          name,
          message: `expected 1 to ${valueCharsMax} characters of visible ASCII, without a space at either end`,
        };
  });
}
