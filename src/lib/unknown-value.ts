/** Values of unknown type: JSON of other servers, and thrown values in words; pure */

/** A JSON object, its fields not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is an object with fields: no array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text, or undefined where the text is none: the message of `JSON.parse` would quote it in logs. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Servers and their proxies answer errors with pages.
    return undefined;
  }
}

/** The part of a JSON value that a dotted path leads to, such as `data.items.0.price`; undefined where it leads nowhere. */
export function valueAt(json: unknown, path: string): unknown {
  return path.split('.').reduce((value: unknown, step) => {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
    return isInside ? (value as Readonly<Record<string, unknown>>)[step] : undefined;
  }, json);
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first line of the message: messages of native libraries continue with paths and stack frames. */
export function firstLineOf(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? '';
}

/** Whether a thrown value is an error of Node or the system with one of the codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
