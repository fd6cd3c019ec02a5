/** Digits that one call's tools have collected: kept in memory until the call ends, and seen by tools alone, not by the model. */

/** Names that digits are kept under. */
export const COLLECTED_NAME = /^[a-z][a-z0-9_]{0,31}$/;

/** Stands for digits where their values may be used. */
const PLACE = /\{\{\s*([a-z][a-z0-9_]{0,31})\s*\}\}/g;

/** Fewer digits are no secret, and stand in any answer. */
const HIDDEN_DIGITS_MIN = 3;

/** Of one call. */
export class CollectedDigits {
  readonly #values = new Map<string, string>();
  readonly #hidden = new Set<string>();

  /** Keeps digits under a name; earlier ones of that name are forgotten, though still hidden. */
  keep(name: string, digits: string): void {
    this.#values.set(name, digits);
    if (digits.length >= HIDDEN_DIGITS_MIN) this.#hidden.add(digits);
  }

  /** Puts digits in the place of `{{name}}` in all texts of a JSON value; a name that is not known stays as it is. */
  fill(value: unknown): unknown {
    if (this.#values.size === 0) return value;
    if (typeof value === 'string') {
      return value.replace(PLACE, (place, name: string) => this.#values.get(name) ?? place);
    }
    if (Array.isArray(value)) return value.map((one) => this.fill(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.fill(one)]));
  }

  /** Takes the digits out of a text, with blanks or dashes between them as well: a service may repeat what it was sent. */
  hide(text: string): string {
    return [...this.#hidden].reduce(
      (shown, digits) => shown.replace(patternOf(digits), '[digits]'),
      text,
    );
  }
}

function patternOf(digits: string): RegExp {
  return new RegExp(`(?<!\\d)${[...digits].join('[\\s-]*')}(?!\\d)`, 'g');
}

/** Whether the last digit is the check digit of the others, as on payment cards. @see ISO/IEC 7812-1, annex B */
export function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length > 1 && sum % 10 === 0;
}
