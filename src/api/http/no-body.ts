/** Guard of routes that take no body: an ignored body would pass for understood. */
import { z } from 'zod';
import type { Guard } from '../api-env.ts';
import { invalidInput } from './errors.ts';
import { parsedJson } from './parsed-json.ts';

const nothing = z.strictObject({});

/** Accepts an empty body and `{}`, of any content type. Comes after `requireScope`. */
export const noBody: Guard = (context, next) => {
  const text = context.get('bodyText');
  if (text === '') return next();
  const result = nothing.safeParse(parsedJson(text));
  if (!result.success) throw invalidInput('json', result.error);
  return next();
};
