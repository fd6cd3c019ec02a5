/** Holds a tool call's arguments against the tool's JSON Schema, as far as tools use it; pure */

interface PropertySchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
}

/** Longest text that an argument may have where its schema names no length. */
const TEXT_LENGTH_MAX = 2000;

/**
 * Checks that the arguments are an object, `type`, `enum` and `maxLength` of each property, `required`, and that nothing else is given.
 *
 * @returns what is wrong, in words a model can act on; empty when all is well.
 */
export function argumentFaults(
  args: unknown,
  parameters: Readonly<Record<string, unknown>>,
): string[] {
  if (!isObject(args)) return ['the arguments must be an object'];
  const { properties = {}, required = [] } = parameters as ObjectSchema;
  const missing = required
    .filter((name) => !Object.hasOwn(args, name))
    .map((name) => `"${name}" is missing`);
  const wrong = Object.entries(args).flatMap(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return schema === undefined ? [`"${name}" is not known`] : faultsOf(name, value, schema);
  });
  return [...missing, ...wrong];
}

function faultsOf(name: string, value: unknown, schema: PropertySchema): string[] {
  if (schema.type !== undefined && !hasType(value, schema.type)) {
    return [`"${name}" must be of type ${schema.type}`];
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => fold(one) === fold(value))) {
    return [`"${name}" must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`];
  }
  const lengthMax = schema.maxLength ?? TEXT_LENGTH_MAX;
  if (typeof value === 'string' && value.length > lengthMax) {
    return [`"${name}" must be at most ${lengthMax} characters long`];
  }
  return [];
}

/** Models are careless with capitals; tools compare without them. */
function fold(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
