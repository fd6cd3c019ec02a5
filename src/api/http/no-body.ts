/** Refuses what a request says to a route that takes no body: it would pass for understood. */
import { z } from 'zod';
import type { ApiContext } from '../api-env.ts';
import { invalidInput } from './errors.ts';
import { parsedJson } from './parsed-json.ts';
import { plainMessage } from './plain-message.ts';

const nothing = z.strictObject({});

/** Comes after `requireScope`. Lets through no body at all and `{}`, whatever the content type: clients send either. */
export function noBody({ bodyText }: ApiContext): void {
  if (bodyText === '') return;
  const result = nothing.safeParse(parsedJson(bodyText), { error: plainMessage });
  if (!result.success) throw invalidInput('json', result.error);
}
