/** Refuses what a request says to a route that takes no body: it would pass for understood. */
import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { ApiEnv } from '../api-env.ts';
import { parsedJson } from '../parsed-json.ts';
import { invalidInput } from './errors.ts';

const nothing = z.strictObject({});

/** Comes after `requireScope`. Lets through no body at all and `{}`, whatever the content type: clients send either. */
export const noBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const text = await context.req.text();
  if (text !== '') {
    const result = nothing.safeParse(parsedJson(text));
    if (!result.success) throw invalidInput('json', result.error);
  }
  await next();
};
