/** Schemas of SMS gateways, opt-outs and messages in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { PLACES, SMS_PRESETS } from '../../domain/sms/http-template.ts';
import {
  SMS_GATEWAY_KINDS,
  SMS_GATEWAY_LIMITS,
  SMS_GATEWAY_NAME,
} from '../../domain/sms/sms-gateway.ts';
import { SMS_STATES } from '../../domain/sms/sms-message.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { allDifferent, words } from './agent-schemas.ts';

const LIMITS = SMS_GATEWAY_LIMITS;

const name = z
  .string()
  .regex(SMS_GATEWAY_NAME, 'expected lower-case letters, digits, - and _, 63 at most')
  .openapi({ pattern: SMS_GATEWAY_NAME.source, example: 'twilio' });

const from = z.string().min(1).max(16).openapi({
  description: 'The sender: E.164, or a name of up to 11 letters and digits.',
  example: '+12025550100',
});

const places = PLACES.map((place) => `{${place}}`).join(', ');

const texts = z
  .record(
    z.string().min(1).max(LIMITS.templateNameCharsMax),
    z.string().max(LIMITS.templateValueCharsMax),
  )
  .refine(
    (fields) => Object.keys(fields).length <= LIMITS.templateFieldsMax,
    `expected at most ${LIMITS.templateFieldsMax} fields`,
  );

const template = z
  .strictObject({
    format: z.enum(['json', 'form']),
    headers: texts.openapi({
      description: 'Headers of the request, with the places of credentials and {id} only.',
      example: { Authorization: 'Bearer {secret}' },
    }),
    body: texts.openapi({
      description: 'Fields of the body; {to} or {toDigits}, and {text}, must be among the places.',
      example: { to: '{to}', text: '{text}' },
    }),
    idPath: words(200).nullable().openapi({
      description:
        'Where a JSON answer has the identifier of the message, as a dotted path; null for none.',
      example: 'data.id',
    }),
  })
  .openapi('SmsTemplate', {
    description: `The request of the preset \`webhook\`, a POST. Places: ${places}.`,
  });

const optional = {
  username: words(LIMITS.usernameCharsMax).nullable().optional().openapi({
    description: 'Account SID of Twilio, API key of Vonage.',
    example: 'AC0123456789',
  }),
  secret: words(LIMITS.secretCharsMax).nullable().optional().openapi({
    description:
      'Auth token, API key or API secret. Never shown again; null in a PATCH keeps the one that the gateway has.',
    example: 'secret-token',
  }),
  url: z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).nullable().optional().openapi({
    description:
      'Where requests go, by the rules of webhook URLs; null for the address of the preset. `webhook` needs one; `smpp` takes `smpp://host:port` or `smpps://host:port`.',
    example: 'https://sms.example.com/send',
  }),
  template: template.nullable().optional().openapi({ description: 'For the preset `webhook`.' }),
  allowedLinks: z
    .array(words(LIMITS.linkCharsMax))
    .max(LIMITS.allowedLinksMax)
    .refine(allDifferent, 'links must differ')
    .optional()
    .openapi({
      uniqueItems: true,
      description:
        'https URLs that messages may lead to, or below. Other links, and e-mail addresses, are refused. None unless given.',
      example: ['https://shop.example.com/pay'],
    }),
  dailyMax: z.int().min(LIMITS.dailyMax.min).max(LIMITS.dailyMax.max).optional().openapi({
    description:
      'Sends nothing more once the account and environment have sent that many on a UTC day. 200 unless given.',
  }),
  timeoutMs: z.int().min(LIMITS.timeoutMs.min).max(LIMITS.timeoutMs.max).optional().openapi({
    description: 'How long the gateway may take to answer; 8,000 unless given.',
  }),
};

/** Body of `POST /api/sms-gateways`. */
export const createSmsGatewaySchema = z
  .strictObject({
    name,
    kind: z.enum(SMS_GATEWAY_KINDS).optional().openapi({
      description:
        '`http` unless given. `smpp`: SMPP 3.4 as a transceiver; needs `url`, `username` (system id) and `secret` (password). `sip`: SIP MESSAGE (RFC 3428) over the trunk with the number `from`, which must be a number of this account (422).',
    }),
    preset: z
      .enum(SMS_PRESETS)
      .optional()
      .openapi({ description: 'The format of `http`.', example: 'webhook' }),
    from,
    ...optional,
  })
  .openapi('CreateSmsGateway');

/** Body of `PATCH /api/sms-gateways/{smsGatewayName}`. */
export const patchSmsGatewaySchema = z
  .strictObject({ from: from.optional(), ...optional })
  .openapi('PatchSmsGateway', {
    minProperties: 1,
    description: 'Only the fields that are there change.',
  });

/** An SMS gateway; its secret is never shown. */
export const smsGatewaySchema = z
  .object({
    name: z.string(),
    kind: z.enum(SMS_GATEWAY_KINDS),
    preset: z.enum(SMS_PRESETS).nullable(),
    from: z.string(),
    username: z.string().nullable(),
    hasSecret: z.boolean().openapi({ description: 'Whether it has a secret, which is not shown.' }),
    url: z.string().nullable(),
    template: template.nullable(),
    allowedLinks: z.array(z.string()),
    dailyMax: z.int(),
    timeoutMs: z.int(),
    callbackUrl: z.url().nullable().openapi({
      description:
        'Secret address that takes the delivery reports and incoming messages of the gateway. Give it to the gateway where it wants one for incoming messages; requests name it for reports. null for other kinds than `http`, and for users of the dashboard who are no admins.',
    }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('SmsGateway');

/** A message that an agent has sent, or tried to. */
export const smsMessageSchema = z
  .object({
    id: z.string(),
    gateway: z.string(),
    to: z.string(),
    text: z.string().nullable().openapi({ description: 'null once the words were erased.' }),
    status: z.enum(SMS_STATES).openapi({
      description:
        '`accepted`: on its way to the gateway. `sent`: taken by it. `delivered`, `failed`: as it reported. `unknown`: it did not say in time; it is not sent again.',
    }),
    reason: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('SmsMessage');

/** A number that wants no messages. */
export const optOutSchema = z
  .object({ number: z.string(), createdAt: z.iso.datetime() })
  .openapi('SmsOptOut');

/** Path of one opt-out. */
export const optOutPathSchema = z.object({
  number: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
});
