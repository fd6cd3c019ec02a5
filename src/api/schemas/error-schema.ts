/** The envelope of every error, as a schema, and the answers that routes document with it. */
import { z } from '@hono/zod-openapi';
import { ERROR_STATUS, type ErrorCode } from '../../domain/service-error.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(CODES).openapi({ example: 'AGENT_NOT_FOUND' }),
      message: z.string(),
      status: z.int().openapi({ example: 404 }),
      requestId: z.string().openapi({ example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .openapi({ description: 'On 400: one entry for each wrong field.' }),
    }),
  })
  .openapi('Error');

const DESCRIPTIONS = {
  400: 'Invalid or missing fields.',
  401: 'API key missing, unknown or revoked.',
  403: 'The key may not do this, or the link is not genuine or has expired.',
  404: 'There is no such resource in the account and environment of the key.',
  409: 'The resource exists already, or is in a state that forbids this.',
  412: 'The resource was changed after the version that `If-Match` names; `ETag` has the newest.',
  416: 'The recording has no such bytes.',
  422: 'Well-formed, but cannot be processed, such as an impossible number.',
  429: 'The hour is used up; `Retry-After` says in how many seconds the next begins.',
  500: 'The server failed; the request id identifies the request.',
  503: 'Temporarily unavailable; retry later.',
} as const;

type ErrorStatus = keyof typeof DESCRIPTIONS;

interface ErrorResponse {
  readonly description: string;
  readonly content: { readonly 'application/json': { readonly schema: typeof errorSchema } };
}

/** Every route may answer with these. */
const ALWAYS = [401, 403, 429, 500, 503] as const;

/** The documented errors of a route: its own, and those that every route has. */
export function errorResponses<Status extends ErrorStatus>(
  ...statuses: readonly Status[]
): Record<Status | (typeof ALWAYS)[number], ErrorResponse> {
  const entries = [...statuses, ...ALWAYS].map((status) => [
    status,
    {
      description: DESCRIPTIONS[status],
      content: { 'application/json': { schema: errorSchema } },
    },
  ]);
  return Object.fromEntries(entries) as Record<Status | (typeof ALWAYS)[number], ErrorResponse>;
}
