/** Types of the PHP client as PHPDoc: an array shape for each record; pure */
import type { ClientModel, Field, NamedType, Shape, TypeRef } from './client-model.ts';
import { wrapped } from './source-text.ts';

const WIDTH_CHARS = 110;

/** The lines of a PHPDoc comment that defines all types, without its `/**` and stars. */
export function phpTypes(model: ClientModel): readonly string[] {
  const codes: TypeRef = { kind: 'choice', values: model.errorCodes };
  const events = model.webhookEvents.map(({ type }) => phpType(type)).join('|');
  return [
    ...innerFirst(model).flatMap(namedType),
    `@phpstan-type ErrorCode ${phpType(codes)}`,
    `@phpstan-type WebhookEvent ${events}`,
  ];
}

/** The types in an order in which each comes after those inside it, as Psalm needs them. */
function innerFirst({ types }: ClientModel): readonly NamedType[] {
  const ordered = new Set<NamedType>();
  const add = (type: NamedType) => {
    if (ordered.has(type)) return;
    const inside = new Set(typesOf(type.shape).flatMap(namesIn));
    for (const each of types) if (inside.has(each.name) && each !== type) add(each);
    ordered.add(type);
  };
  types.forEach(add);
  return [...ordered];
}

function typesOf(shape: Shape): readonly TypeRef[] {
  if (shape.kind === 'record') return shape.fields.map(({ type }) => type);
  return shape.kind === 'union' ? shape.of : [shape.of];
}

function namesIn(type: TypeRef): readonly string[] {
  switch (type.kind) {
    case 'list':
      return namesIn(type.items);
    case 'map':
      return namesIn(type.values);
    case 'nullable':
      return namesIn(type.of);
    case 'named':
      return [type.name];
    default:
      return [];
  }
}

/** Names of all types, for `@phpstan-import-type`. */
export function phpTypeNames(model: ClientModel): readonly string[] {
  return [...model.types.map(({ name }) => name), 'ErrorCode', 'WebhookEvent'];
}

function namedType({ name, description, shape }: NamedType): readonly string[] {
  const fields = shape.kind === 'record' ? shape.fields : [];
  const docs = fields
    .filter((field) => field.description !== '')
    .map((field) => `- \`${field.name}\`: ${field.description}`);
  const text = [...(description === '' ? [] : [`${name}: ${description}`]), ...docs];
  const lines = text.flatMap(docLines);
  const [first = '', ...rest] = shapeLines(shape);
  return [...lines, `@phpstan-type ${name} ${first}`, ...rest, ''];
}

function shapeLines(shape: Shape): readonly string[] {
  switch (shape.kind) {
    case 'record':
      return ['array{', ...shape.fields.map((field) => `  ${fieldOf(field)},`), '}'];
    case 'union':
      return [shape.of.map(phpType).join('|')];
    case 'alias':
      return [phpType(shape.of)];
    default:
      return shape satisfies never;
  }
}

function fieldOf({ name, type, isRequired }: Field): string {
  return `${name}${isRequired ? '' : '?'}: ${phpType(type)}`;
}

/** A type in PHPDoc. Numbers of JSON without a fraction are read as integers. */
export function phpType(type: TypeRef): string {
  switch (type.kind) {
    case 'string':
      return 'string';
    case 'integer':
      return 'int';
    case 'number':
      return 'int|float';
    case 'boolean':
      return 'bool';
    case 'unknown':
      return 'mixed';
    case 'choice':
      return type.values
        .map((value) => (typeof value === 'string' ? quoted(value) : value))
        .join('|');
    case 'list':
      return `list<${phpType(type.items)}>`;
    case 'map':
      return `array<string, ${phpType(type.values)}>`;
    case 'nullable':
      return type.of.kind === 'unknown' ? 'mixed' : `${phpType(type.of)}|null`;
    case 'named':
      return type.name;
    default:
      return type satisfies never;
  }
}

/** A description as lines of a comment; tags and ends of comments in it are text. */
export function docLines(text: string): readonly string[] {
  return wrapped(text.replaceAll('*/', '*\\/').replaceAll(/(^|\s)@/g, '$1\\@'), WIDTH_CHARS);
}

/** @param margin What stands before each line. */
export function docComment(lines: readonly string[], margin = ''): string {
  const middle = lines.map((line) => `${margin} * ${line}`.trimEnd());
  return [`${margin}/**`, ...middle, `${margin} */`].join('\n');
}

export function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

/**
 * Places inside a value where JSON has an object, such as `settings` or `tools.*.headers`: PHP has one kind of array, and
 * an empty one does not tell which it is.
 */
export function objectPlaces(type: TypeRef, model: ClientModel, place = ''): readonly string[] {
  const below = (name: string) => (place === '' ? name : `${place}.${name}`);
  const here = place === '' ? [] : [place];
  switch (type.kind) {
    case 'list':
      return objectPlaces(type.items, model, below('*'));
    case 'map':
      return [...here, ...objectPlaces(type.values, model, below('*'))];
    case 'nullable':
      return objectPlaces(type.of, model, place);
    case 'named': {
      const shape = model.types.find(({ name }) => name === type.name)?.shape;
      if (shape?.kind === 'alias') return objectPlaces(shape.of, model, place);
      if (shape?.kind === 'union') return shape.of.flatMap((of) => objectPlaces(of, model, place));
      const fields = shape?.fields ?? [];
      return [...here, ...fields.flatMap((it) => objectPlaces(it.type, model, below(it.name)))];
    }
    default:
      return [];
  }
}
