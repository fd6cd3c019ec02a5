/** Schemas of a request for an outgoing call and its answer: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { isPlainText } from '../../domain/agent/agent-rules.ts';
import { EXPIRES_IN_SECONDS, WINDOW_DAYS_MAX } from '../../domain/dialing/dial-window.ts';
import {
  faultsOfSipHeaders,
  OUTBOUND_LIMITS,
  SIP_HEADER_LIMITS,
  SIP_HEADER_NAME,
  SIP_HEADER_VALUE,
} from '../../domain/dialing/outbound-rules.ts';
import { isObject } from '../../lib/unknown-value.ts';
import { isDeeperThan } from '../http/request-body.ts';
import { createAgentSchema, voicemailSchema } from './agent-schemas.ts';
import { instantSchema } from './query-schemas.ts';

const { metadataBytesMax, metadataDepthMax, metadataKeysMax } = OUTBOUND_LIMITS;

const agent = createAgentSchema.shape;

/** The limits are the agent's own. */
export const overridesSchema = z
  .strictObject({
    greeting: agent.greeting.optional(),
    maxDurationSeconds: agent.settings.unwrap().shape.maxDurationSeconds,
    systemPrompt: agent.systemPrompt.optional(),
    voice: agent.voice,
    language: agent.language,
    voicemail: voicemailSchema.optional(),
  })
  .openapi('CallOverrides', { description: 'What is said here goes before the agent, once.' });

/** The customer's own data on a call: a JSON object within the limits of `whyNotMetadata`. */
export const metadataSchema = z
  .unknown()
  // Comes before the record schema, which drops such a key without an error.
  .superRefine((value, context) => {
    for (const { path, message } of unkeepable(value)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  })
  .pipe(z.record(z.string(), z.unknown()))
  .superRefine((value, context) => {
    const message = whyNotMetadata(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .openapi({
    type: 'object',
    additionalProperties: {},
    maxProperties: metadataKeysMax,
    description:
      'Anything: 50 keys, 16 KiB as JSON and 8 lists or objects in each other at most; no key `__proto__`, no NUL.',
    example: { customer: 'c-1029', campaign: 'recall' },
  });

/** Keyword of JSON Schema 2020-12 that the library's types of OpenAPI 3.1 lack. */
const HEADER_NAMES: object = { propertyNames: { pattern: SIP_HEADER_NAME } };

const headers = z
  .unknown()
  // Comes before the record, which drops the key `__proto__` without a word.
  .superRefine((value, context) => {
    if (!isObject(value)) return;
    for (const { name, message } of faultsOfSipHeaders(Object.fromEntries(Object.entries(value)))) {
      context.addIssue({ code: 'custom', path: name === '' ? [] : [name], message });
    }
  })
  .pipe(z.record(z.string(), z.string()))
  .openapi({
    type: 'object',
    maxProperties: SIP_HEADER_LIMITS.headersMax,
    ...HEADER_NAMES,
    additionalProperties: {
      type: 'string',
      maxLength: SIP_HEADER_LIMITS.valueCharsMax,
      pattern: SIP_HEADER_VALUE,
    },
    description:
      'SIP headers of the INVITE: `X-…` and `User-to-User` (RFC 7433) alone, visible ASCII. Carriers may remove them. A second call of a transfer does not have them.',
    example: { 'X-Customer': 'c-1029', 'User-to-User': '56a390f3d2b7;encoding=hex' },
  });

/** Body of `POST /api/calls/outbound`. */
export const startCallSchema = z
  .strictObject({
    agentId: z.string().min(1).max(100),
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
    from: z.string().optional().openapi({
      description:
        "E.164; a number of one of the server's trunks. Without it, the agent's `phoneNumber`.",
      example: '+390698765432',
    }),
    expiresInSeconds: z
      .int()
      .min(EXPIRES_IN_SECONDS.min)
      .max(EXPIRES_IN_SECONDS.max)
      .optional()
      .openapi({
        default: EXPIRES_IN_SECONDS.default,
        description:
          'How long the call may wait in the queue, from the first instant at which it may be dialled (`notBefore`, calling hours). One that was not dialled by then fails with `error` and a `failureReason`.',
      }),
    notBefore: instantSchema.optional().openapi({
      description: `The call is not dialled before; ${WINDOW_DAYS_MAX} days ahead at most. One in the past has no effect.`,
      example: '2026-11-20T13:00:00.000Z',
    }),
    notAfter: instantSchema.optional().openapi({
      description: `The call is not dialled after; it fails with \`error\` then. After \`notBefore\`, in the future, ${WINDOW_DAYS_MAX} days ahead at most. Together with \`expiresInSeconds\` the earlier end counts; alone it takes the place of its default.`,
      example: '2026-11-20T17:00:00.000Z',
    }),
    metadata: metadataSchema.optional(),
    headers: headers.optional(),
    overrides: overridesSchema.optional(),
  })
  .openapi('StartCall');

/** Answer to `POST /api/calls/outbound`: the call as it is queued. */
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

/** Answer to `POST /api/calls/{callId}/hangup`. */
export const hungUpCallSchema = z
  .object({
    callId: z.string(),
    status: z.enum(['ringing', 'in_progress', 'failed']).openapi({
      description:
        '`failed`: it still waited, and was never dialled. Else its status as the hang-up began.',
    }),
  })
  .openapi('HungUpCall');

/** Names, texts and numbers, at any depth, that could not be given back as they came. The body is 32 deep at most. */
function* unkeepable(
  value: unknown,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly message: string }> {
  if (typeof value === 'string' && !isPlainText(value)) yield { path, message: NOT_PLAIN };
  if (typeof value === 'number' && !Number.isFinite(value)) yield { path, message: NOT_FINITE };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!isPlainText(key)) yield { path, message: `${NOT_PLAIN} in its keys` };
    else if (key === '__proto__') yield { path: [...path, key], message: 'Key cannot be used' };
    else yield* unkeepable(inner, [...path, key]);
  }
}

const NOT_PLAIN = 'expected well-formed Unicode without NUL';

/** JSON numbers have no upper limit, and JavaScript reads larger ones as Infinity. */
const NOT_FINITE = 'expected a number below 1.8e308';

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
