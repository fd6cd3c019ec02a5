/** Types of the Python client: a TypedDict for each record; pure */
import type { ClientModel, Field, NamedType, TypeRef } from './client-model.ts';
import { GENERATED, indent, wrapped } from './source-text.ts';

/** Words that Python gives no field, parameter or method as a name. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

export function isKeyword(name: string): boolean {
  return KEYWORDS.has(name);
}

export function pythonTypes(model: ClientModel): string {
  const isRecord = ({ shape }: NamedType) => shape.kind === 'record';
  const codes = pythonChoice(model.errorCodes);
  const events = model.webhookEvents.map(({ type }) => quotedRef(type)).join(', ');
  return [
    `"""${GENERATED}"""\n\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict, Union`,
    ...model.types.filter(isRecord).map(recordOf),
    ...model.types.filter((type) => !isRecord(type)).map(aliasOf),
    `ErrorCode = ${codes}\n"""Values of an error's code."""`,
    `WebhookEvent = Union[${events}]\n"""What a webhook endpoint receives."""\n`,
  ].join('\n\n\n');
}

/**
 * Fields that may be absent are those of a base with `total=False`: `NotRequired` comes with Python 3.11. Fields named like
 * a keyword need the functional syntax.
 */
function recordOf({ name, description, shape }: NamedType): string {
  if (shape.kind !== 'record') throw new TypeError(`Cannot write "${name}": it is no record`);
  const bases = [
    ...basesOf(
      name,
      shape.fields.filter(({ isRequired }) => !isRequired),
      false,
    ),
    ...basesOf(
      name,
      shape.fields.filter(({ isRequired }) => isRequired),
      true,
    ),
  ];
  const own = shape.fields.filter((field) => field.isRequired && !isKeyword(field.name));
  const docs = description === '' ? '' : indent(docstring(description), '    ');
  const body = [docs, fieldLines(own)].filter((part) => part !== '').join('\n\n');
  const from = bases.length === 0 ? 'TypedDict' : bases.map((base) => base.name).join(', ');
  const head = `class ${name}(${from}):\n${body === '' ? '    pass' : body}`;
  return [...bases.map(({ text }) => text), head].join('\n\n\n');
}

/** The bases that a record needs for the fields that it cannot have itself. */
function basesOf(name: string, fields: readonly Field[], isRequired: boolean) {
  const total = isRequired ? '' : ', total=False';
  const base = `_${name}${isRequired ? '' : 'Optional'}`;
  const plain = isRequired ? [] : fields.filter((field) => !isKeyword(field.name));
  const items = fields
    .filter((field) => isKeyword(field.name))
    .map((field) => `"${field.name}": "${pythonType(field.type)}"`);
  const functional = `TypedDict("${base}Keywords", {${items.join(', ')}}${total})`;
  return [
    {
      name: base,
      text: `class ${base}(TypedDict${total}):\n${fieldLines(plain)}`,
      count: plain.length,
    },
    { name: `${base}Keywords`, text: `${base}Keywords = ${functional}`, count: items.length },
  ].filter(({ count }) => count > 0);
}

function fieldLines(fields: readonly Field[]): string {
  return indent(
    fields
      .map(({ name, type, description }) => {
        const docs = description === '' ? '' : `\n${docstring(description)}`;
        return `${name}: ${pythonType(type)}${docs}`;
      })
      .join('\n'),
    '    ',
  );
}

function aliasOf({ name, description, shape }: NamedType): string {
  const docs = description === '' ? '' : `\n${docstring(description)}`;
  switch (shape.kind) {
    case 'union':
      return `${name} = Union[${shape.of.map(quotedRef).join(', ')}]${docs}`;
    case 'alias':
      return `${name} = ${pythonType(shape.of)}${docs}`;
    case 'record':
      return '';
    default:
      return shape satisfies never;
  }
}

/** @param prefix Module that has the named types, with its dot. */
export function pythonType(type: TypeRef, prefix = ''): string {
  switch (type.kind) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'unknown':
      return 'Any';
    case 'choice':
      return pythonChoice(type.values);
    case 'list':
      return `List[${pythonType(type.items, prefix)}]`;
    case 'map':
      return `Dict[str, ${pythonType(type.values, prefix)}]`;
    case 'nullable':
      return `Optional[${pythonType(type.of, prefix)}]`;
    case 'named':
      return prefix + type.name;
    default:
      return type satisfies never;
  }
}

function pythonChoice(values: readonly (string | boolean)[]): string {
  const written = values.map((value) => {
    if (typeof value === 'string') return JSON.stringify(value);
    return value ? 'True' : 'False';
  });
  return `Literal[${written.join(', ')}]`;
}

function quotedRef(type: TypeRef): string {
  return `"${pythonType(type)}"`;
}

/** A docstring; it has no margin of its own. */
export function docstring(text: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  const lines = wrapped(safe, 90);
  const end = safe.endsWith('"') ? ' ' : '';
  return lines.length === 1 ? `"""${safe}${end}"""` : `"""${lines.join('\n')}\n"""`;
}
