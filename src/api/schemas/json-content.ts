/** Short forms for what every route says about its JSON. */
import type { ZodType } from 'zod';

export function jsonBody<Schema extends ZodType>(schema: Schema) {
  // Without `required`, a request that names no content type would pass unchecked.
  return { required: true, content: { 'application/json': { schema } } } as const;
}

export function jsonResponse<Schema extends ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } } as const;
}

/** An answer with the `ETag` of its record. */
export function taggedResponse<Schema extends ZodType>(description: string, schema: Schema) {
  const headers = { ETag: { $ref: '#/components/headers/ETag' } };
  return { ...jsonResponse(description, schema), headers } as const;
}
