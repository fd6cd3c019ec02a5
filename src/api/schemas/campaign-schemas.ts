/** Schemas of campaigns in requests and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import {
  CAMPAIGN_LIMITS,
  CAMPAIGN_STATUSES,
  CONTACT_STATES,
} from '../../domain/campaign/campaign.ts';
import { WINDOW_DAYS_MAX } from '../../domain/dialing/dial-window.ts';
import { metadataSchema, overridesSchema } from './outbound-schemas.ts';
import { instantSchema, PAGE_LIMIT, pagingFields } from './query-schemas.ts';

const { callsPerMinute, contactsMax, maxConcurrentCalls, retriesMax, retryDelaySeconds } =
  CAMPAIGN_LIMITS;

/** Longest CSV text; the body may have 1 MiB. */
const CSV_CHARS_MAX = 1_000_000;

const contactDraftSchema = z
  .strictObject({
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
    metadata: metadataSchema.optional(),
    overrides: overridesSchema.optional(),
  })
  .openapi('CampaignContactDraft');

const TOO_MANY = `expected 1 to ${contactsMax} contacts; split a longer list into several campaigns`;

/** Body of `POST /api/campaigns`, as JSON. */
export const createCampaignSchema = z
  .strictObject({
    name: z.string().trim().min(1).max(100).openapi({ example: 'Recall in November' }),
    agentId: z.string().min(1).max(100),
    contacts: z
      .array(contactDraftSchema)
      .min(1, TOO_MANY)
      .max(contactsMax, TOO_MANY)
      .optional()
      .openapi({
        description:
          'The list, each number once: a number that comes twice is refused. Either this or `csv`.',
      }),
    csv: z.string().min(1).max(CSV_CHARS_MAX).optional().openapi({
      description:
        'The list as comma-separated values (RFC 4180; semicolons and tabs are fine). The first line names the columns: `to`, and others, which become `metadata`.',
      example: 'to,customer\n+390612345678,c-1029\n',
    }),
    from: z.string().optional().openapi({
      description:
        "E.164; a number of one of the server's trunks. Without it, the agent's `phoneNumber`.",
      example: '+390698765432',
    }),
    callsPerMinute: z
      .int()
      .min(callsPerMinute.min)
      .max(callsPerMinute.max)
      .default(callsPerMinute.default)
      .openapi({ description: 'Pace: how many calls may begin in a minute.' }),
    maxConcurrentCalls: z
      .int()
      .min(maxConcurrentCalls.min)
      .max(maxConcurrentCalls.max)
      .default(maxConcurrentCalls.default)
      .openapi({ description: 'Calls at the same time, those that wait or ring included.' }),
    notBefore: instantSchema.optional().openapi({
      description: `No call is made before; ${WINDOW_DAYS_MAX} days ahead at most.`,
      example: '2026-11-20T08:00:00.000Z',
    }),
    notAfter: instantSchema.optional().openapi({
      description: `No call is made after: contacts that still wait fail then. ${WINDOW_DAYS_MAX} days ahead at most.`,
      example: '2026-11-20T17:00:00.000Z',
    }),
    retries: z
      .strictObject({
        max: z.int().min(0).max(retriesMax),
        delaySeconds: z
          .int()
          .min(retryDelaySeconds.min)
          .max(retryDelaySeconds.max)
          .default(retryDelaySeconds.default),
      })
      .optional()
      .openapi({
        description: 'Further calls to a number that was busy or did not answer. Default: none.',
      }),
  })
  .openapi('CreateCampaign');

const endReasons = z.record(z.string(), z.int());

const countsSchema = z
  .object({
    total: z.int(),
    pending: z.int(),
    calling: z.int(),
    completed: z.int(),
    failed: z.int(),
    refused: z.int().openapi({ description: 'The dial policy allows no call to the number.' }),
    cancelled: z.int(),
    byEndReason: endReasons.openapi({
      description: 'How the newest calls of `completed` and `failed` contacts ended.',
      example: { user_hangup: 12, no_answer: 3 },
    }),
  })
  .openapi('CampaignCounts');

/** A campaign with its counts. */
export const campaignSchema = z
  .object({
    id: z.string().openapi({ example: 'camp_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    name: z.string(),
    agentId: z.string(),
    status: z.enum(CAMPAIGN_STATUSES).openapi({
      description: '`running` includes the time before `notBefore`.',
    }),
    statusReason: z.string().nullable().openapi({
      description: 'Why the server paused it, such as a paused agent; null otherwise.',
    }),
    from: z.string().nullable(),
    callsPerMinute: z.int(),
    maxConcurrentCalls: z.int(),
    notBefore: z.iso.datetime().nullable(),
    notAfter: z.iso.datetime().nullable(),
    retries: z.object({ max: z.int(), delaySeconds: z.int() }),
    counts: countsSchema,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  })
  .openapi('Campaign');

/** A contact of a campaign, with its calls. */
export const campaignContactSchema = z
  .object({
    row: z.int().openapi({ description: 'Place in the list, from 1.' }),
    to: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    state: z.enum(CONTACT_STATES),
    attempts: z.int().openapi({ description: 'Calls that were made to it.' }),
    callId: z.string().nullable().openapi({ description: 'Its newest call.' }),
    endReason: z.string().nullable().openapi({ description: 'How its newest call ended.' }),
    reason: z.string().nullable().openapi({
      description: 'Why it was refused, failed or waits, in a sentence.',
    }),
    nextCallAt: z.iso.datetime().nullable().openapi({
      description: 'Earliest instant of its next call; null where there is none to come.',
    }),
  })
  .openapi('CampaignContact');

/** Path of one campaign. */
export const campaignPathSchema = z.object({
  campaignId: z.string().openapi({ example: 'camp_0VbZOZK8iLGcXSKvcmQMdaX5' }),
});

/** Query of the list of campaigns. */
export const campaignQuerySchema = z.strictObject({
  status: z.enum(CAMPAIGN_STATUSES).optional(),
  ...pagingFields(PAGE_LIMIT),
});

/** Query of the contacts of a campaign. */
export const campaignContactQuerySchema = z.strictObject({
  state: z.enum(CONTACT_STATES).optional(),
  ...pagingFields(PAGE_LIMIT),
});
