/** Answers with a list whose items are text already. */

import type { ApiContext } from './api-env.ts';
import type { JsonAnswer } from './http/api-answer.ts';

/** @param page.items objects of JSON with commas between; nothing here reads them. */
export function pageText<Page>(
  context: ApiContext,
  page: {
    readonly items: string;
    readonly total: number;
    readonly limit: number;
    readonly offset: number;
  },
): JsonAnswer<Page, 200> {
  const { items, total, limit, offset } = page;
  const text = `{"data":[${items}],"total":${total},"limit":${limit},"offset":${offset}}`;
  return context.body(text, 200, { 'Content-Type': 'application/json' });
}
