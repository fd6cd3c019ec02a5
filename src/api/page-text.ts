/** Answers with a list whose items are text already. */
import type { TypedResponse } from 'hono';
import type { ApiContext } from './api-env.ts';

/** @param page.items objects of JSON with commas between; nothing here reads them. */
export function pageText<Page>(
  context: ApiContext,
  page: {
    readonly items: string;
    readonly total: number;
    readonly limit: number;
    readonly offset: number;
  },
) {
  const { items, total, limit, offset } = page;
  const text = `{"data":[${items}],"total":${total},"limit":${limit},"offset":${offset}}`;
  const response: unknown = context.body(text, 200, { 'Content-Type': 'application/json' });
  return response as Response & TypedResponse<Page, 200, 'json'>;
}
