/** What versions of agents look like in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { AGENT_VERSIONS_KEPT } from '../../domain/agent/agent-version.ts';
import { agentPathSchema, agentSchema } from './agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

const agentVersionSchema = z
  .object({
    version: z.int().openapi({ description: 'Counted from 1, which is the agent as it was made.' }),
    at: z.iso.datetime(),
    by: z
      .enum(['api', 'dashboard'])
      .openapi({ description: 'Whether a key of yours or a person at the dashboard changed it.' }),
    changed: z.array(z.string()).openapi({
      description:
        'The fields that differ from the version before, such as `greeting` or `settings.interruptible`; none for the first.',
    }),
    agent: agentSchema
      .pick({
        name: true,
        greeting: true,
        systemPrompt: true,
        voice: true,
        language: true,
        phoneNumber: true,
        tools: true,
        responsiveness: true,
        settings: true,
        status: true,
      })
      .openapi('AgentContent', { description: 'As the agent was from then on.' }),
  })
  .openapi('AgentVersion');

export const agentVersionPageSchema = pageOf(agentVersionSchema).openapi('AgentVersionPage', {
  description: `The newest ${AGENT_VERSIONS_KEPT} of an agent are kept.`,
});

export const agentVersionQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

/** A number that no version can have is one that there is not: 404, and not 400. */
export const agentVersionPathSchema = agentPathSchema.extend({
  version: z.string().openapi({ type: 'integer', minimum: 1 }),
});
