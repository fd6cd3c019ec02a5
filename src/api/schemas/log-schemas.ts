/** What the logs of requests and of the server look like in answers: the one source of types and documentation. */
import { z } from '@hono/zod-openapi';
import { REQUEST_ACTORS } from '../../domain/account/request-log.ts';
import { SERVER_LOG_LEVELS } from '../../lib/server-log.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

const requestId = z.string().openapi({ example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' });

const keptFields = {
  since: z.iso.datetime().openapi({ description: 'Start of the server, and of the log.' }),
  keptMax: z.int().openapi({ description: 'Older entries than so many are gone.' }),
};

export const requestEntrySchema = z
  .object({
    requestId,
    at: z.iso.datetime().openapi({ description: 'When the request came.' }),
    method: z.string().openapi({ example: 'GET' }),
    route: z.string().openapi({
      description: 'Pattern of the path, never the path itself; `unmatched` for an unknown path.',
      example: '/api/calls/{callId}',
    }),
    status: z.int().openapi({ example: 404 }),
    errorCode: z
      .string()
      .nullable()
      .openapi({ description: '`error.code` of the answer.', example: 'CALL_NOT_FOUND' }),
    durationMs: z.int(),
    actor: z.enum(REQUEST_ACTORS).openapi({
      description:
        '`user`: a user of the dashboard; `key`: an API key; `none`: no valid key or session.',
    }),
    actorId: z.string().nullable().openapi({ description: 'Id of the user or key.' }),
    actorName: z.string().nullable().openapi({
      description: 'Name of the user, or prefix and last four characters of the key.',
    }),
    accountId: z.string().nullable(),
    environment: z.string().nullable(),
  })
  .openapi('RequestLogEntry');

export const requestLogPageSchema = pageOf(requestEntrySchema)
  .extend(keptFields)
  .openapi('RequestLogPage');

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

const part = z.string().min(1).max(200).optional();

export const requestLogQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  status: z
    .enum(STATUS_CLASSES)
    .optional()
    .openapi({ param: { description: 'Only answers of this class.' } }),
  route: part.openapi({
    param: { description: 'Only requests whose method and route contain this text.' },
  }),
  requestId: part.openapi({ param: { description: 'Only this request.' } }),
});

export const serverLogEntrySchema = z
  .object({
    at: z.iso.datetime(),
    level: z.enum(SERVER_LOG_LEVELS),
    component: z.string().openapi({ example: 'http' }),
    message: z.string().openapi({ example: 'http: request failed' }),
    code: z.string().nullable().openapi({ description: 'Code of the error.' }),
    requestId: requestId.nullable(),
  })
  .openapi('ServerLogEntry');

export const serverLogPageSchema = pageOf(serverLogEntrySchema)
  .extend(keptFields)
  .openapi('ServerLogPage');

export const serverLogQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  level: z
    .enum(SERVER_LOG_LEVELS)
    .optional()
    .openapi({ param: { description: 'Only entries of this level.' } }),
  text: part.openapi({ param: { description: 'Only entries whose message contains this text.' } }),
  requestId: part.openapi({ param: { description: 'Only entries about this request.' } }),
});
