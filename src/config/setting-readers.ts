/** Readers of settings: from text to value, and what is said of a wrong one; pure */

/** Reads the text of one setting. @throws {Expected} with what is allowed. */
export type Reader<Value> = (text: string) => Value;

/** What a setting allows, such as "a whole number from 1 to 64". */
export class Expected extends Error {}

/** How a setting is read, and its value when it is not given. */
export interface Setting<Value> {
  readonly read: Reader<Value>;
  readonly otherwise: Value;
}

/** A setting with a default. */
export function setting<Value>(read: Reader<Value>, otherwise: Value): Setting<Value> {
  return { read, otherwise };
}

/** A setting that may be missing. */
export function optional<Value>(read: Reader<Value>): Setting<Value | undefined> {
  return { read, otherwise: undefined };
}

/** Any text. */
export const text: Reader<string> = (given) => given;

/** Text that passes the check. */
export function textWhere(isAllowed: (given: string) => boolean, expected: string): Reader<string> {
  return (given) => {
    if (!isAllowed(given)) throw new Expected(expected);
    return given;
  };
}

/** Text of that form. */
export function matching(pattern: RegExp, expected: string): Reader<string> {
  return textWhere((given) => pattern.test(given), expected);
}

/** One of these words. */
export function oneOf<const Name extends string>(...names: readonly Name[]): Reader<Name> {
  return (given) => {
    const name = names.find((each) => each === given);
    if (name === undefined) throw new Expected(`one of ${names.join(', ')}`);
    return name;
  };
}

/** Digits alone, both bounds included: `Number` takes `0x10`, `1e3` and a space as well. */
export function wholeNumber(min: number, max: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    if (!/^\d{1,9}$/.test(given) || value < min || value > max) {
      throw new Expected(`a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

/** A port, or 0 for a free one. */
export const port = wholeNumber(0, 65_535);

/** A number, fractions too. */
export const numberAboveZero: Reader<number> = (given) => {
  const value = Number(given);
  if (!(value > 0 && Number.isFinite(value))) throw new Expected('a number above 0');
  return value;
};

/** `true` or `false`. */
export const flag: Reader<boolean> = (given) => oneOf('true', 'false')(given) === 'true';
