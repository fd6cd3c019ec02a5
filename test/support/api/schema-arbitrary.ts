/** Values for fast-check that fit a schema, or nearly. */
import fc from 'fast-check';
import { type Description, followed, type JsonSchema } from './openapi-description.ts';

/** Texts that mean something somewhere, so that more than the shape is tried. */
const WORDS = [
  ...['text', '\0', 'é', 'IT', 'en-US', 'https://example.com/'],
  ...['+390612345678', '+390698765432', '+39061', '2026-11-19', '2026-11-20'],
];

interface Known {
  readonly description: Description;
  /** Of resources there are, by the names of the fields that refer to them. */
  readonly ids: Readonly<Record<string, string>>;
}

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: fc
    .date({ min: new Date('2026-10-01'), max: new Date('2026-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  'date-time': fc
    .date({ min: new Date('2026-10-01'), max: new Date('2026-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  uri: fc.webUrl(),
};

/** Mostly what the schema takes; at each place now and then anything else, a field too many or one too few. */
export function nearly(schema: JsonSchema, known: Known): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: fitting(schema, known), weight: 30 },
    { arbitrary: fc.jsonValue({ maxDepth: 2 }), weight: 1 },
  );
}

function fitting(schema: JsonSchema, known: Known): fc.Arbitrary<unknown> {
  const plain = followed(schema, known.description);
  const { anyOf, oneOf, enum: choices, const: only, example } = plain;
  const others = anyOf ?? oneOf;
  if (others !== undefined) return fc.oneof(...others.map((other) => nearly(other, known)));
  if (only !== undefined) return fc.constant(only);
  if (choices !== undefined) return fc.constantFrom(...choices);
  const types = typeof plain.type === 'string' ? [plain.type] : (plain.type ?? ['null']);
  const values = types.map((type) => ofType(type, plain, known));
  const examples = example === undefined ? [] : [fc.constant(example)];
  return fc.oneof(...values, ...examples);
}

function ofType(type: string, schema: JsonSchema, known: Known): fc.Arbitrary<unknown> {
  const { minimum = -10, maximum = 100_000, items = {} } = schema;
  switch (type) {
    case 'object':
      return objects(schema, known);
    case 'array':
      return fc.array(nearly(items, known), { maxLength: 3 });
    case 'integer':
      return fc.integer({ min: minimum - 1, max: Math.min(maximum + 1, 2 ** 31) });
    case 'number':
      return fc.double({ min: minimum, max: maximum });
    case 'boolean':
      return fc.boolean();
    case 'string':
      return texts(schema);
    default:
      return fc.constant(null);
  }
}

function texts({ pattern, format, maxLength }: JsonSchema): fc.Arbitrary<string> {
  const free = fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength ?? 50, 50) });
  const usual = FORMATS[format ?? ''] ?? fc.constantFrom(...WORDS);
  if (pattern === undefined || format !== undefined) return fc.oneof(usual, free);
  return fc.oneof(fc.stringMatching(new RegExp(pattern)), usual, free);
}

function objects(schema: JsonSchema, known: Known): fc.Arbitrary<object> {
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    return fc.dictionary(fc.string(), values ? nearly(values, known) : fc.jsonValue());
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const id = known.ids[name];
    const value = nearly(field, known);
    return [name, id === undefined ? value : fc.oneof(fc.constant(id), value)];
  });
  const shape: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields);
  const requiredKeys = [...required];
  const extra = fc.oneof({ arbitrary: fc.constant({}), weight: 15 }, fc.constant({ extra: 1 }));
  return fc
    .tuple(
      fc.oneof(
        { arbitrary: fc.record(shape, { requiredKeys }), weight: 15 },
        fc.record(shape, { requiredKeys: [] }),
      ),
      extra,
    )
    .map(([value, more]) => ({ ...value, ...more }));
}
