/** What accounts look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { PLANS } from '../../domain/account/account.ts';
import {
  ACCOUNT_LIMITS,
  COUNTRY_CODES,
  isCountryCode,
} from '../../domain/account/account-rules.ts';
import { CLOCK_TIME } from '../../domain/calendar/calendar.ts';
import { minutesOfDay, OPEN_DAYS } from '../../domain/dialing/calling-hours.ts';
import { isTimeZone } from '../../domain/zoned-time.ts';
import { allDifferent, transferTargetList, words } from './agent-schemas.ts';

const timestamp = z.iso.datetime();

const minutes = z.number().min(0);

const COUNTRIES = 'ISO 3166 codes that may be called; null: the country of the calling number.';

const days = (what: string) =>
  z
    .int()
    .min(ACCOUNT_LIMITS.retentionDays.min)
    .max(ACCOUNT_LIMITS.retentionDays.max)
    .nullable()
    .openapi({ description: `${what}, in days from the call's start; null keeps for good.` });

const retention = {
  recordingsDays: days('How long recordings are kept'),
  transcriptsDays: days(
    'How long transcripts, summaries and the events that tell of them are kept',
  ),
  callsDays: days('How long calls are kept at all; what they add up to stays'),
};

const timeOfDay = z.string().regex(CLOCK_TIME, 'expected HH:MM');

const callingHours = z
  .strictObject({
    days: z
      .array(z.enum(OPEN_DAYS))
      .min(1)
      .max(OPEN_DAYS.length)
      .refine(allDifferent, 'days must differ'),
    from: timeOfDay.openapi({ example: '09:00' }),
    until: timeOfDay.openapi({
      example: '20:00',
      description: 'Exclusive; `24:00` is the end of the day.',
    }),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected an IANA time zone, such as Europe/Rome')
      .openapi({
        example: 'Europe/Rome',
        description:
          'For numbers of countries with several time zones; others have the time of their country.',
      }),
  })
  .refine(({ from, until }) => minutesOfDay(from) < minutesOfDay(until), {
    message: 'must be after from',
    path: ['until'],
  })
  .nullable()
  .openapi('CallingHours', {
    description:
      'When people may be rung by outbound calls, in the time of the called number; null: at any time. Calls wait in the queue outside of them.',
  });

export const patchAccountSchema = z
  .strictObject({
    name: words(ACCOUNT_LIMITS.nameCharsMax).optional(),
    transferTargets: transferTargetList(ACCOUNT_LIMITS.transferTargetsMax).optional().openapi({
      description: "Where every agent may hand calls to, besides the agent's own list.",
    }),
    allowedCountries: z
      .array(
        z
          .string()
          .refine(isCountryCode, 'expected an ISO 3166 code, such as IT')
          .openapi({ enum: [...COUNTRY_CODES] }),
      )
      .max(ACCOUNT_LIMITS.allowedCountriesMax)
      .refine(allDifferent, 'countries must differ')
      .nullable()
      .optional()
      .openapi({ uniqueItems: true, description: COUNTRIES, example: ['IT', 'FR'] }),
    callingHours: callingHours.optional(),
    retention: z.strictObject(retention).partial().optional().openapi({
      description:
        'How long calls of both environments are kept. What is too old goes within ten minutes and does not come back.',
    }),
  })
  .openapi('PatchAccount', {
    minProperties: 1,
    description: 'Only the fields that are there change; one at least.',
  });

export const accountSchema = z
  .object({
    id: z.string().openapi({ example: 'acct_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    name: z.string(),
    plan: z.enum(PLANS),
    environment: z.enum(['live', 'test']).openapi({ description: 'Of the key that asks.' }),
    minutesIncluded: minutes.openapi({ description: 'A calendar month.' }),
    minutesUsed: minutes.openapi({
      description:
        'In the environment, in the calendar month so far, one decimal; simulated ones cost nothing.',
    }),
    minutesRemaining: minutes.openapi({ description: 'Never less than 0.' }),
    period: z
      .object({ start: timestamp, end: timestamp })
      .openapi({ description: 'The calendar month in UTC, first and last millisecond.' }),
    transferTargets: z.array(z.object({ label: z.string(), number: z.string() })),
    allowedCountries: z.array(z.string()).nullable().openapi({ description: COUNTRIES }),
    callingHours,
    retention: z.object(retention),
    createdAt: timestamp,
  })
  .openapi('Account');

const secret = z.string().nullable().openapi({ example: 'whsec_plJ3nmyCDGBKInavdOK15jsl1AabcdeF' });

export const signingSecretSchema = z
  .object({
    signingSecret: secret.openapi({
      description:
        'Signs `X-Service-Signature` and `webhook-signature`; null when the answer is a replay.',
    }),
    preparedSecret: secret.openapi({
      description:
        'Signs `webhook-signature` as well, until it is activated; null without one, and when the answer is a replay.',
    }),
    previousSecret: secret.openapi({
      description:
        'The one before the last activation, signs `webhook-signature` as well for 24 h; null without one, and when the answer is a replay.',
    }),
    previousValidUntil: timestamp.nullable(),
  })
  .openapi('SigningSecret');
