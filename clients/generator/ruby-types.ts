/** Types of the Ruby client as RBS: a record for each object; pure */
import type { ClientModel, Field, NamedType, TypeRef } from './client-model.ts';
import { indent, snakeCase, wrapped } from './source-text.ts';

const WIDTH_CHARS = 110;

/** The text of `module Types`, without its margin. */
export function rubyTypes(model: ClientModel): string {
  const codes: TypeRef = { kind: 'choice', values: model.errorCodes };
  const events = model.webhookEvents.map(({ type }) => rubyType(type)).join(' | ');
  const types = [
    ...model.types.map(namedType),
    `# Values of an error's code.\ntype error_code = ${rubyType(codes)}`,
    `# What a webhook endpoint receives.\ntype webhook_event = ${events}`,
  ];
  return `module Types\n${indent(types.join('\n\n'), '  ')}\nend`;
}

function namedType({ name, description, shape }: NamedType): string {
  const head = `${rubyComment(description)}type ${snakeCase(name)} =`;
  switch (shape.kind) {
    case 'record':
      return `${head} {\n${indent(shape.fields.map(recordField).join(',\n'), '  ')}\n}`;
    case 'union':
      return `${head} ${shape.of.map((of) => rubyType(of)).join(' | ')}`;
    case 'alias':
      return `${head} ${rubyType(shape.of)}`;
    default:
      return shape satisfies never;
  }
}

function recordField({ name, type, isRequired, description }: Field): string {
  return `${rubyComment(description)}${isRequired ? '' : '?'}${name}: ${rubyType(type)}`;
}

/** @param prefix Module that has the named types, with its colons. Numbers of JSON without a fraction are read as integers. */
export function rubyType(type: TypeRef, prefix = ''): string {
  switch (type.kind) {
    case 'string':
      return 'String';
    case 'integer':
      return 'Integer';
    case 'number':
      return '(Integer | Float)';
    case 'boolean':
      return 'bool';
    case 'unknown':
      return 'untyped';
    case 'choice':
      return choice(type.values);
    case 'list':
      return `Array[${rubyType(type.items, prefix)}]`;
    case 'map':
      return `Hash[Symbol, ${rubyType(type.values, prefix)}]`;
    case 'nullable':
      return type.of.kind === 'unknown' ? 'untyped' : `${rubyType(type.of, prefix)}?`;
    case 'named':
      return prefix + snakeCase(type.name);
    default:
      return type satisfies never;
  }
}

function choice(values: readonly (string | boolean)[]): string {
  const [first = '', ...others] = values.map((value) => JSON.stringify(value));
  return others.length === 0 ? first : `(${[first, ...others].join(' | ')})`;
}

/** A description as lines of a comment, with its line end; nothing for none. */
export function rubyComment(text: string): string {
  if (text === '') return '';
  const lines = wrapped(text, WIDTH_CHARS).map((line) => `# ${line}`.trimEnd());
  return `${lines.join('\n')}\n`;
}
