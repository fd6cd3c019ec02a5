/** What entries of the audit log look like in answers: the one source of types and documentation. */
import { z } from '@hono/zod-openapi';
import { AUDIT_ACTORS } from '../../domain/account/audit-log.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

export const auditEntrySchema = z
  .object({
    id: z.string().openapi({ example: 'aud_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    at: z.iso.datetime(),
    actor: z.enum(AUDIT_ACTORS).openapi({
      description:
        '`user`: a user of the dashboard; `key`: an API key; `cli`: `npm run admin` on the server; `none`: an attempt to sign in.',
    }),
    actorId: z.string().nullable().openapi({ description: 'Id of the user or key.' }),
    actorName: z.string().nullable().openapi({
      description: 'Name of the user, or prefix and last four characters of the key, as of then.',
    }),
    address: z.string().nullable().openapi({ description: 'IP address of the client.' }),
    action: z.string().openapi({
      description: 'Method and route, or the command.',
      example: 'PATCH /api/agents/{agentId}',
    }),
    resource: z.string().nullable().openapi({
      description: 'Id or name of what was changed; never a telephone number.',
      example: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5',
    }),
    status: z.int().nullable().openapi({ description: 'HTTP status of the answer.' }),
    accountId: z.string().nullable(),
    environment: z.string().nullable(),
  })
  .openapi('AuditEntry');

export const auditPageSchema = pageOf(auditEntrySchema).openapi('AuditPage');

const exact = z.string().min(1).max(200).optional();

export const auditQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  actorId: exact.openapi({ param: { description: 'Only changes by this user or key.' } }),
  resource: exact.openapi({ param: { description: 'Only changes of this id or name.' } }),
});
