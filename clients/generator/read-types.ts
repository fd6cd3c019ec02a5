/** Named types from the schemas of the OpenAPI document; pure */
import {
  type Description,
  followed,
  type JsonSchema,
} from '../../test/support/api/openapi-description.ts';
import type { Field, NamedType, Shape, TypeRef } from './client-model.ts';

/** Collects named types; a schema without a name gets that of its place. */
export class TypeReader {
  readonly #description: Description;
  readonly #types: NamedType[] = [];
  readonly #names = new Set<string>();

  constructor(description: Description) {
    this.#description = description;
  }

  get types(): readonly NamedType[] {
    return this.#types;
  }

  /**
   * Reads every schema that the document names, but the envelope of errors, for which clients have classes.
   *
   * @throws {Error} when two types would have one name.
   */
  readAll(): void {
    for (const [name, schema] of Object.entries(this.#description.components.schemas)) {
      if (name !== 'Error') this.#define(name, schema);
    }
  }

  /** @param place Name for an object that has none. */
  refOf(schema: JsonSchema, place: string): TypeRef {
    const named = referenceOf(schema);
    if (named !== undefined) {
      const target = followed(schema, this.#description);
      return nullableIf(isNullable(target), { kind: 'named', name: named });
    }
    return nullableIf(isNullable(schema), this.#plainRef(schema, place));
  }

  #plainRef(schema: JsonSchema, place: string): TypeRef {
    const type = plainTypeOf(schema);
    switch (type) {
      case 'string':
      case 'boolean':
        return schema.enum === undefined ? { kind: type } : choiceOf(schema.enum);
      case 'integer':
      case 'number':
        return { kind: type };
      case 'array':
        return { kind: 'list', items: this.refOf(schema.items ?? {}, singularOf(place)) };
      case 'object':
        if (schema.properties === undefined) return this.#mapRef(schema, place);
        this.#define(place, schema);
        return { kind: 'named', name: place };
      case undefined:
        return { kind: 'unknown' };
      default:
        throw new Error(`Cannot read the schema of "${place}": unknown type "${type}"`);
    }
  }

  #mapRef({ additionalProperties }: JsonSchema, place: string): TypeRef {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return { kind: 'map', values: this.refOf(values, `${place}Value`) };
  }

  #define(name: string, schema: JsonSchema): void {
    if (this.#names.has(name)) {
      throw new Error(`Cannot name a type "${name}": another one has the name`);
    }
    this.#names.add(name);
    const index = this.#types.length;
    const shape = this.#shapeOf(name, schema);
    // Types inside it follow.
    this.#types.splice(index, 0, { name, description: schema.description ?? '', shape });
  }

  #shapeOf(name: string, schema: JsonSchema): Shape {
    const { anyOf } = schema;
    if (anyOf !== undefined) {
      return {
        kind: 'union',
        of: anyOf.map((part, index) => this.refOf(part, `${name}${index + 1}`)),
      };
    }
    const whole = followed(schema, this.#description);
    if (plainTypeOf(whole) !== 'object' || whole.properties === undefined) {
      return { kind: 'alias', of: this.#plainRef(whole, name) };
    }
    return { kind: 'record', fields: this.#fieldsOf(name, whole) };
  }

  #fieldsOf(name: string, { properties = {}, required = [] }: JsonSchema): readonly Field[] {
    return Object.entries(properties).map(([field, schema]) => ({
      name: field,
      type: this.refOf(schema, name + upperFirst(field)),
      isRequired: required.includes(field),
      description: schema.description ?? '',
    }));
  }
}

/** Name of the schema that a reference leads to. */
function referenceOf({ $ref }: JsonSchema): string | undefined {
  return $ref?.replace('#/components/schemas/', '');
}

function plainTypeOf({ type }: JsonSchema): string | undefined {
  return typeof type === 'string' ? type : type?.find((each) => each !== 'null');
}

function isNullable({ type }: JsonSchema): boolean {
  return Array.isArray(type) && type.includes('null');
}

function nullableIf(isSo: boolean, of: TypeRef): TypeRef {
  return isSo ? { kind: 'nullable', of } : of;
}

function choiceOf(values: readonly unknown[]): TypeRef {
  // A schema that takes null lists it among its values.
  const isChoice = (value: unknown) => typeof value === 'string' || typeof value === 'boolean';
  return { kind: 'choice', values: values.filter(isChoice) };
}

function singularOf(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : `${name}Item`;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
