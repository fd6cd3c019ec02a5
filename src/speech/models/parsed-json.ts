/** Reads JSON for a schema that is asked next; pure */

/** Undefined where it is no JSON, which fits no schema either. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
