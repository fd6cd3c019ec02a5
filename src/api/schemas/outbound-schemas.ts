/** What a request for an outgoing call and its answer look like: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { OUTBOUND_LIMITS } from '../../domain/outbound-rules.ts';
import { isDeeperThan } from '../json-depth.ts';
import { createAgentSchema } from './agent-schemas.ts';

const { metadataBytesMax, metadataDepthMax, metadataKeysMax } = OUTBOUND_LIMITS;

const agent = createAgentSchema.shape;

/** The limits are the agent's own. */
const overrides = z
  .strictObject({
    greeting: agent.greeting.optional(),
    maxDurationSeconds: agent.settings.unwrap().shape.maxDurationSeconds,
    systemPrompt: agent.systemPrompt.optional(),
    voice: agent.voice,
    language: agent.language,
  })
  .openapi('CallOverrides', { description: 'What is said here goes before the agent, once.' });

const metadata = z
  .record(z.string(), z.unknown())
  .superRefine((value, context) => {
    const message = whyNotMetadata(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .openapi({
    description: 'Anything: 50 keys, 16 KiB as JSON and 8 lists or objects in each other at most.',
    example: { customer: 'c-1029', campaign: 'recall' },
  });

export const startCallSchema = z
  .strictObject({
    agentId: z.string().min(1).max(100),
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
    from: z.string().optional().openapi({
      description:
        "E.164; a number of one of the server's trunks. Without it, the agent's `phoneNumber`.",
      example: '+390698765432',
    }),
    metadata: metadata.optional(),
    overrides: overrides.optional(),
  })
  .openapi('StartCall');

export const queuedCallSchema = z
  .object({
    callId: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    status: z.literal('queued'),
    estimatedStartTime: z.iso.datetime().openapi({
      description: 'When it will be dialled, as far as the calls before it let one tell.',
    }),
    createdAt: z.iso.datetime(),
  })
  .openapi('QueuedCall');

export const hungUpCallSchema = z
  .object({
    callId: z.string(),
    status: z.enum(['ringing', 'in_progress', 'failed']).openapi({
      description:
        '`failed`: it still waited, and was never dialled. Else its status as the hang-up began.',
    }),
  })
  .openapi('HungUpCall');

function whyNotMetadata(value: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.keys(value).length > metadataKeysMax)
    return `expected ${metadataKeysMax} keys at most`;
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > metadataBytesMax) {
    return `expected ${metadataBytesMax} bytes as JSON at most`;
  }
  if (isDeeperThan(json, metadataDepthMax)) {
    return `expected ${metadataDepthMax} lists and objects in each other at most`;
  }
  return undefined;
}
