/** Checks a value against the part of JSON Schema that our documentation uses. */
import { type Description, followed, type JsonSchema } from './openapi-description.ts';

const ISO_MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => ISO_MILLISECONDS.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: URL.canParse,
};

/** What is wrong with the value, each with its path; empty when nothing is. */
export function faultsOf(
  value: unknown,
  schema: JsonSchema,
  description: Description,
  path = '$',
): readonly string[] {
  const { anyOf, oneOf, ...rest } = followed(schema, description);
  const faultsIn = (other: JsonSchema) => faultsOf(value, other, description, path);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined && !choices.some((choice) => faultsIn(choice).length === 0)) {
    return [`${path} fits none of the choices: ${JSON.stringify(value)}`];
  }
  return [
    ...plainFaults(value, rest).map((fault) => `${path} ${fault}`),
    ...objectFaults(value, rest, description, path),
    ...listFaults(value, rest, description, path),
  ];
}

function plainFaults(value: unknown, schema: JsonSchema): readonly string[] {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const faults: string[] = [];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    faults.push(`is no ${types.join(' or ')}: ${JSON.stringify(value)}`);
  }
  const mayBeNull = value === null && types.includes('null');
  if (schema.enum !== undefined && !schema.enum.includes(value) && !mayBeNull) {
    faults.push(`is not listed: ${JSON.stringify(value)}`);
  }
  if (schema.const !== undefined && schema.const !== value) faults.push('is another constant');
  if (typeof value === 'string') faults.push(...textFaults(value, schema));
  if (typeof value === 'number') faults.push(...numberFaults(value, schema));
  return faults;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textFaults(text: string, schema: JsonSchema): readonly string[] {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
  const faults: string[] = [];
  if (text.length < minLength || text.length > maxLength) faults.push('is too short or too long');
  if (format !== undefined && FORMATS[format]?.(text) === false) faults.push(`is no ${format}`);
  // A date-time has both, and the pattern allows more than the format.
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) faults.push('fits no pattern');
  return faults;
}

function numberFaults(value: number, schema: JsonSchema): readonly string[] {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const isInside = value >= minimum && value <= maximum;
  return isInside && value > exclusiveMinimum && value < exclusiveMaximum
    ? []
    : ['is out of range'];
}

function objectFaults(
  value: unknown,
  schema: JsonSchema,
  description: Description,
  path: string,
): readonly string[] {
  if (!isObject(value)) return [];
  const { properties = {}, required = [], additionalProperties } = schema;
  const { propertyNames = {}, minProperties = 0, maxProperties = Infinity } = schema;
  const names = Object.keys(value);
  const isCounted = names.length >= minProperties && names.length <= maxProperties;
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const isClosed = schema.properties !== undefined && additionalProperties === undefined;
  return [
    ...(isCounted ? [] : [`${path} has too few fields or too many`]),
    ...names.flatMap((name) => faultsOf(name, propertyNames, description, `${path} name`)),
    ...missing.map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, item]) => {
      const other = typeof additionalProperties === 'object' ? additionalProperties : undefined;
      const own = Object.hasOwn(properties, name) ? properties[name] : other;
      if (own !== undefined) return faultsOf(item, own, description, `${path}.${name}`);
      // An answer has nothing that is not documented, though JSON Schema would allow it.
      return isClosed || additionalProperties === false ? [`${path}.${name} is undocumented`] : [];
    }),
  ];
}

function listFaults(
  value: unknown,
  schema: JsonSchema,
  description: Description,
  path: string,
): readonly string[] {
  if (!Array.isArray(value)) return [];
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const isUnique = new Set(value.map((item) => JSON.stringify(item))).size === value.length;
  const alike = schema.uniqueItems && !isUnique ? [`${path} has two alike`] : [];
  const length = value.length < minItems || value.length > maxItems ? [`${path} is too long`] : [];
  if (items === undefined) return [...length, ...alike];
  const faults = value.flatMap((item, index) =>
    faultsOf(item, items, description, `${path}[${index}]`),
  );
  return [...length, ...alike, ...faults];
}
