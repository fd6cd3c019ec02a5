/** Says in plain words what is wrong with a value that a schema refuses; pure */
import { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'a timestamp such as 2026-11-21T08:00:00.000Z',
  date: 'a day such as 2026-11-21',
};

/** Makes `plainMessage` the message of every schema that has none of its own; zod keeps it for the whole process. */
export function usePlainMessages(): void {
  z.config({ customError: plainMessage });
}

/** The message of a refused value; undefined for zod's own where it names the unknown fields. */
export function plainMessage(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'unrecognized_keys':
      return undefined;
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeName(issue.expected)}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${listed(issue.values)}`;
    case 'too_small':
      return `must ${verb(issue.origin)} ${issue.inclusive ? 'at least' : 'more than'} ${sized(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${verb(issue.origin)} ${issue.inclusive ? 'at most' : 'less than'} ${sized(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'of the documented form'}`;
    default:
      return 'must be of the documented form';
  }
}

function typeName(expected: string): string {
  return TYPES[expected] ?? expected;
}

/** Joins values as in `"cold", "warm" or "three-way"`. */
function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  const last = texts.at(-1) ?? '';
  return texts.length > 1 ? `${texts.slice(0, -1).join(', ')} or ${last}` : last;
}

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

function verb(origin: string): string {
  return UNITS[origin] === undefined ? 'be' : 'have';
}

function sized(limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return String(limit);
  return `${limit} ${unit[Number(limit) === 1 ? 0 : 1]}`;
}
