/** Variables in an agent's greeting and instructions, filled in for each call: `{{name}}`, or `{{name|there}}` with a default; pure */
import type { Call } from '../call/call.ts';

/** Fields of a call that variables are filled from. */
export type VariableSource = Pick<Call, 'from' | 'to' | 'metadata'>;

/** Source without values, for texts outside a call, such as a chat. */
export const NO_VARIABLES: VariableSource = { from: '', to: '', metadata: {} };

/** Names are those of metadata, which a list's column may have in any language and with blanks: `First Name`. */
const VARIABLE = /( ?)\{\{\s*(\p{L}[^{}|\n]{0,63}?)\s*(?:\|([^{}]*))?\}\}(?=([.,;:!?])?)/gu;

/** A value is a name or a date, no second set of instructions. */
const VALUE_CHARS_MAX = 200;

/**
 * The text with its variables filled in: fields of the call's metadata that are a text, a number or a flag, and `from` and `to`,
 * the call's numbers. One that the call does not have becomes its default, or nothing; a blank before it goes with it where a
 * mark follows.
 */
export function filledIn(text: string, call: VariableSource): string {
  return text.replaceAll(
    VARIABLE,
    (_whole, blank: string, name: string, otherwise: string | undefined, mark?: string) => {
      const value = valueFor(call, name) || (otherwise ?? '').trim();
      return value === '' && mark !== undefined ? '' : `${blank}${value}`;
    },
  );
}

/** Empty where there is none. */
function valueFor({ metadata, from, to }: VariableSource, name: string): string {
  const own = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  const value = own ?? { from, to }[name];
  if (!['string', 'number', 'boolean'].includes(typeof value)) return '';
  const line = String(value)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return line.trim().slice(0, VALUE_CHARS_MAX);
}
