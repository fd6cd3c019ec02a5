/** Records and figures as customers see them: the fields of a schema and no others, few decimals; pure */
import type { z } from '@hono/zod-openapi';

/**
 * Picks what the schema names: what a record gains later does not get out by itself. Instants become ISO 8601.
 *
 * @param record with the schema's fields by name; lists and objects inside of it are taken as they are.
 */
export function viewOf<Schema extends z.ZodObject>(
  schema: Schema,
  record: Source<z.infer<Schema>>,
): z.infer<Schema> {
  const fields = record as Readonly<Record<string, unknown>>;
  const view: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = fields[name];
    view[name] = value instanceof Date ? value.toISOString() : value;
  }
  return view as z.infer<Schema>;
}

type Source<View> = {
  readonly [Name in keyof View]: Frozen<View[Name]> | (string extends View[Name] ? Date : never);
};

type Frozen<Value> = Value extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

export function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor;
}

/** Minutes with one decimal. */
export function minutesOf(seconds: number): number {
  return rounded(seconds / 60, 1);
}
