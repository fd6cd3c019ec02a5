/** A value that fits a schema, made of the examples it has; pure */
import { type Description, followed, type JsonSchema } from './openapi-description.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-11-21T08:00:00.000Z',
  date: '2026-11-21',
  uri: 'https://voice.example/',
};

/** The smallest object that the schema takes: what it requires, or else the first of its fields. */
export function sampleOf(schema: JsonSchema, description: Description): unknown {
  const {
    anyOf,
    oneOf,
    example,
    enum: choices,
    const: only,
    ...rest
  } = followed(schema, description);
  if (example !== undefined) return example;
  if (rest.default !== undefined) return rest.default;
  if (only !== undefined) return only;
  if (choices !== undefined) return choices[0];
  const [first] = anyOf ?? oneOf ?? [];
  if (first !== undefined) return sampleOf(first, description);
  return plainSample(rest, description);
}

function plainSample(schema: JsonSchema, description: Description): unknown {
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  switch (type) {
    case 'object':
      return objectSample(schema, description);
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items, description)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return TEXTS[schema.format ?? ''] ?? 'text';
    default:
      return null;
  }
}

function objectSample(schema: JsonSchema, description: Description): object {
  const { properties = {}, required = [] } = schema;
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(
    names.map((name) => [name, sampleOf(properties[name] ?? {}, description)]),
  );
}
