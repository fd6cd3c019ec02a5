/** The fields of a schema in a flat list, each with what a reader wants to know of it; pure */
import { type Description, followed, type JsonSchema } from '../openapi/description.ts';

/** Deeper fields are left to the reader's imagination; ours are three deep. */
const DEPTH_MAX = 6;

export interface Field {
  /** Such as `settings.maxDurationSeconds`, or `tools[]` for what a list holds. */
  readonly path: string;
  /** Such as `array of string`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** Such as `1 to 120 characters`. */
  readonly facts: readonly string[];
  readonly description: string;
}

/** Fields of an object, and of what lies in it, in the order of the schema. */
export function fieldsOf(
  schema: JsonSchema,
  description: Description,
  path = '',
  depth = 0,
): readonly Field[] {
  const { properties = {}, required = [] } = followed(schema, description);
  return Object.entries(properties).flatMap(([name, property]) => {
    const field = fieldOf(property, description, `${path}${name}`);
    const inner = depth < DEPTH_MAX ? innerFields(property, description, field.path, depth) : [];
    return [{ ...field, isRequired: required.includes(name) }, ...inner];
  });
}

/** One value that may be an object's field, or a parameter. */
export function fieldOf(schema: JsonSchema, description: Description, path: string): Field {
  const plain = followed(schema, description);
  return {
    path,
    type: typeOf(plain, description),
    isRequired: false,
    facts: factsOf(plain, description),
    description: schema.description ?? plain.description ?? '',
  };
}

function innerFields(
  schema: JsonSchema,
  description: Description,
  path: string,
  depth: number,
): readonly Field[] {
  const { items, ...plain } = followed(schema, description);
  if (items === undefined) return fieldsOf(plain, description, `${path}.`, depth + 1);
  return fieldsOf(items, description, `${path}[].`, depth + 1);
}

function typeOf(schema: JsonSchema, description: Description): string {
  const { type, anyOf, oneOf, items } = schema;
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) {
    const types = choices.map((choice) => typeOf(followed(choice, description), description));
    return [...new Set(types)].join(' or ');
  }
  const words = typeof type === 'string' ? [type] : (type ?? ['any']);
  const item = items === undefined ? '' : typeOf(followed(items, description), description);
  return words.map((word) => (word === 'array' ? `array of ${item}` : word)).join(' or ');
}

function factsOf(schema: JsonSchema, description: Description): readonly string[] {
  const { items, format, pattern, default: byDefault } = schema;
  const listed = schema.enum ?? (items && followed(items, description).enum);
  const only = schema.const === undefined ? listed : [schema.const];
  const facts = [
    only?.map((value) => `\`${value}\``).join(', '),
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
    schema.uniqueItems ? 'no two alike' : undefined,
    range(schema.minimum, schema.maximum, ''),
    format,
    pattern === undefined || format !== undefined ? undefined : `matches \`${pattern}\``,
    byDefault === undefined ? undefined : `default \`${JSON.stringify(byDefault)}\``,
  ];
  return facts.filter((fact) => fact !== undefined && fact !== '') as readonly string[];
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  // The greatest number of JavaScript is no limit that a reader meets.
  const isBounded = max !== undefined && max < Number.MAX_SAFE_INTEGER;
  const isRaised = min !== undefined && min > -Number.MAX_SAFE_INTEGER;
  const [from, to] = [min?.toLocaleString('en-US'), max?.toLocaleString('en-US')];
  if (isRaised && isBounded) return `${from} to ${to} ${unit}`.trim();
  if (isBounded) return `at most ${to} ${unit}`.trim();
  return isRaised ? `at least ${from} ${unit}`.trim() : undefined;
}
