/** The envelope of every error, as a schema, and the answers that routes document with it. */
import { z } from '@hono/zod-openapi';
import { ERROR_STATUS, type ErrorCode } from '../../domain/service-error.ts';
import { jsonResponse } from './json-content.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

export const errorSchema = z
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

/** When each code is the answer. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR:
    'The body, the query or a header is malformed; `details` names every wrong field.',
  UNAUTHORIZED: 'The API key is missing, unknown or revoked.',
  FORBIDDEN: 'The key lacks the scope, or a signed link is not genuine or has expired.',
  NOT_FOUND: 'No such path or resource in the account and environment of the key.',
  AGENT_NOT_FOUND: 'No such agent.',
  CALL_NOT_FOUND: 'No such call.',
  VOICE_NOT_FOUND: 'No such voice.',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'No such webhook endpoint.',
  CONFLICT: 'The resource exists already, or its state forbids the change.',
  PRECONDITION_FAILED: 'The resource is newer than the version in `If-Match`.',
  UNPROCESSABLE: 'The request is well-formed, but cannot be carried out.',
  RATE_LIMITED: 'The requests of this hour are used up; see `Retry-After`.',
  INTERNAL_ERROR: 'The server failed; report the `requestId`.',
  SERVICE_UNAVAILABLE:
    'The server is full, stopping, or its database is unavailable; see `Retry-After`.',
};

/** All codes with status and meaning, as a table in Markdown. */
export function errorCodeTable(): string {
  const rows = CODES.map((code) => `| \`${code}\` | ${ERROR_STATUS[code]} | ${MEANINGS[code]} |`);
  return ['| Code | Status | When |', '| --- | --- | --- |', ...rows].join('\n');
}

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

export type ErrorStatus = keyof typeof DESCRIPTIONS;

/** Every route may answer with these. */
const ALWAYS: readonly ErrorStatus[] = [400, 401, 403, 429, 500, 503];

/** The documented errors of a route: its own, and those that every route has. */
export function errorResponses(own: readonly ErrorStatus[]) {
  const answers = [...own, ...ALWAYS].map((status) => {
    return [status, jsonResponse(DESCRIPTIONS[status], errorSchema)] as const;
  });
  return Object.fromEntries(answers);
}
