/** Queries: whole numbers, no parameters at all, and pagination by `limit` and `offset`, the same for every list. */
import { z } from '@hono/zod-openapi';
import type { ZodType } from 'zod';

/** A whole number as a query writes it; `1e2`, `+5` and ` 5` are refused. */
export function wholeNumber(limits: { readonly min: number; readonly max: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(limits.min).max(limits.max));
}

export const PAGE_LIMIT = { default: 20, max: 100 } as const;

/** The query parameters of a list. */
export function pagingFields(limit: { readonly default: number; readonly max: number }) {
  return {
    limit: wholeNumber({ min: 1, max: limit.max })
      .default(limit.default)
      .openapi({
        param: { description: `How many items to return, ${limit.max} at most.` },
        type: 'integer',
        minimum: 1,
        maximum: limit.max,
        default: limit.default,
      }),
    offset: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
      .default(0)
      .openapi({
        param: { description: 'How many items to skip.' },
        type: 'integer',
        minimum: 0,
        default: 0,
      }),
  };
}

/** A list's envelope around its items. */
export function pageOf<Item extends ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    total: z.int().openapi({ description: 'All matching items.' }),
    limit: z.int(),
    offset: z.int(),
  });
}

/** The query of routes that have no parameters: a misspelt or imagined one must not pass for understood. */
export const noQuery = z.strictObject({});
