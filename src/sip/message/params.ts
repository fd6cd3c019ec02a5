/** Parameters behind semicolons, as headers and URIs carry them; pure */
import { endOfQuoted, endOfRun, PARAM_VALUE, skipSpace, TOKEN } from './char-class.ts';
import { SipError } from './sip-error.ts';

/**
 * Parameters by lower-case name, in the order they were written.
 *
 * A value is wire text, quotes included; null where the name stands alone.
 */
export type Params = ReadonlyMap<string, string | null>;

/** What most addresses have. */
export const NO_PARAMS: Params = new Map();

/**
 * Reads `;name=value;name;name="quoted"` from `start` to the end of the text.
 *
 * @throws {SipError} 400 when anything else stands there, or a name comes twice.
 * @see RFC 3261 section 25.1, generic-param, and section 7.3.1
 */
export function parseParams(text: string, start = 0): Params {
  let i = skipSpace(text, start);
  if (i === text.length) return NO_PARAMS;
  const params = new Map<string, string | null>();
  while (i < text.length) {
    if (text.charCodeAt(i) !== 0x3b) throw new SipError(400, 'Bad Parameter');
    i = readParam(text, skipSpace(text, i + 1), params);
  }
  return params;
}

/** Writes the parameters back, each with its semicolon. */
export function formatParams(params: Params): string {
  let text = '';
  for (const [name, value] of params) text += value === null ? `;${name}` : `;${name}=${value}`;
  return text;
}

/** The text inside a quoted value, escapes undone; any other value as it is. */
export function unquote(value: string): string {
  if (value.charCodeAt(0) !== 0x22) return value;
  let text = '';
  for (let i = 1; i < value.length - 1; i++) {
    if (value.charCodeAt(i) === 0x5c) i++;
    text += value.charAt(i);
  }
  return text;
}

/** The text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function readParam(text: string, start: number, params: Map<string, string | null>): number {
  const nameEnd = endOfRun(text, TOKEN, start);
  const name = text.slice(start, nameEnd).toLowerCase();
  if (name === '' || params.has(name)) throw new SipError(400, 'Bad Parameter');

  const i = skipSpace(text, nameEnd);
  if (text.charCodeAt(i) !== 0x3d) {
    params.set(name, null);
    return i;
  }
  const valueStart = skipSpace(text, i + 1);
  const valueEnd = endOfValue(text, valueStart);
  if (valueEnd <= valueStart) throw new SipError(400, 'Bad Parameter');
  params.set(name, text.slice(valueStart, valueEnd));
  return skipSpace(text, valueEnd);
}

function endOfValue(text: string, start: number): number {
  return text.charCodeAt(start) === 0x22
    ? endOfQuoted(text, start)
    : endOfRun(text, PARAM_VALUE, start);
}
