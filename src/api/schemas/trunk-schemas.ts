/** Schemas of trunks in bodies and answers. Bodies are validated by the one validator of trunks, not here. */
import { z } from '@hono/zod-openapi';
import { errorSchema } from '../http/describe-route.ts';
import { eventOf } from '../http/event-stream.ts';

const number = z.string().openapi({
  description: 'E.164, or the beginning of numbers and a star.',
  example: '+390612345678',
});

const nullableText = z.string().nullable();

/** Carrier's price for calls of one direction. */
const callPriceSchema = z
  .object({
    perMinute: z.number().min(0).openapi({ example: 0.012 }),
    currency: z.string().openapi({ description: 'ISO 4217.', example: 'EUR' }),
    incrementSeconds: z.int().min(1).max(60).openapi({
      description: 'Billed time is rounded up to a multiple of it.',
    }),
    connection: z.number().min(0).openapi({ description: 'For each answered call.' }),
  })
  .nullable()
  .openapi({ description: 'null: unknown.' });

const CODECS = ['PCMU', 'PCMA', 'G722', 'opus'] as const;

/** A SIP trunk with its state; its password is never shown. */
export const trunkSchema = z
  .object({
    name: z.string().openapi({ example: 'acme' }),
    source: z.enum(['file', 'api']).openapi({
      description:
        '`file`: of the trunk file (`SIP_TRUNKS`), which answers 409 to changes. `api`: of the database.',
    }),
    state: z.enum(['ready', 'registering', 'failed', 'unregistered']).openapi({
      description: [
        '`ready`: calls can go through. `registering`: the carrier was asked and has not answered yet. `failed`: refused, or',
        'no answer; it is tried again. `unregistered`: nothing is tried.',
      ].join(' '),
    }),
    detail: z.string().openapi({ example: 'registered with sip.example.com:5060' }),
    expiresAt: z.iso.datetime().nullable().openapi({
      description:
        'When the registration ends unless it is renewed; null where there is none. It is renewed well before.',
    }),
    proxy: z.string().openapi({
      description: 'Where the carrier takes calls: host, and port where one is set.',
      example: 'sip.example.com:5060',
    }),
    domain: nullableText,
    transport: z.enum(['udp', 'tcp', 'tls']),
    username: nullableText.openapi({
      description: 'Shown to the operator: a live key of the first account; null to others.',
    }),
    hasPassword: z.boolean().openapi({ description: 'Whether one is set. It is never shown.' }),
    realm: nullableText,
    register: z.boolean(),
    registerExpiresSeconds: z.int(),
    optionsIntervalSeconds: z.int(),
    numbers: z.array(number),
    callerId: nullableText,
    callerIdHeader: z.enum(['pai', 'rpid', 'from']).openapi({
      description:
        'Headers besides From that have the calling number: P-Asserted-Identity (`pai`), Remote-Party-ID as well (`rpid`), or none (`from`).',
    }),
    account: nullableText.openapi({
      description: 'The account that its numbers belong to; null: the first account.',
    }),
    allowedSources: z.array(z.string()),
    codecs: z.array(z.string()).openapi({ example: [...CODECS] }),
    srtp: z.enum(['required', 'preferred', 'off']),
    transfer: z.enum(['auto', 'refer', 'bridge']),
    acceptTransfers: z.boolean().openapi({
      description:
        'Whether its far ends may move calls to another party: by REFER, within the dial policy, or by INVITE with Replaces.',
    }),
    maxCalls: z.int().nullable().openapi({ description: 'null where there is no limit.' }),
    callsPerSecond: z.number().nullable(),
    advertisedAddress: nullableText,
    price: z.object({ inbound: callPriceSchema, outbound: callPriceSchema }).nullable().openapi({
      description: 'What the carrier charges for answered calls, by direction; null: unknown.',
    }),
    addressInUse: z
      .object({
        address: z.string().nullable(),
        source: z.enum(['setting', 'name', 'carrier', 'stun', 'local']),
      })
      .openapi({
        description:
          'The address of this server that the carrier is told now, and where it is from: a setting, the name in a setting, what the carrier or the STUN server sees (`auto`); `local`, with null: the source of its packets.',
      }),
    callsInProgress: z.int(),
    callsMax: z
      .int()
      .nullable()
      .openapi({ description: 'The same as `maxCalls`, which says it better.' }),
  })
  .openapi('Trunk');

/** All trunks. */
export const trunkListSchema = z.object({ data: z.array(trunkSchema) }).openapi('TrunkList');

/** Path of one trunk. */
export const trunkPathSchema = z.object({ trunkName: z.string().openapi({ example: 'acme' }) });

type JsonType = 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object' | 'null';

/** A type, not an interface: only a type has the index signature of extensions. */
type Field = {
  type: JsonType | JsonType[];
  description?: string;
  example?: unknown;
  default?: unknown;
  enum?: (string | null)[];
  items?: Field;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Field>;
  required?: string[];
  additionalProperties?: false;
};

function text(description: string, example?: string): Field {
  return { type: 'string', description, ...(example !== undefined && { example }) };
}

function list(description: string, example: readonly string[]): Field {
  return { type: 'array', items: { type: 'string' }, description, example };
}

function choice(names: string[], usual: string): Field {
  return { type: 'string', enum: names, default: usual };
}

function priceOf(description: string): Field {
  return {
    type: ['object', 'null'],
    description,
    properties: {
      perMinute: {
        ...{ type: 'number', minimum: 0, maximum: 100, example: 0.012 },
        description: 'Six decimals at most.',
      },
      currency: text('ISO 4217.', 'EUR'),
      incrementSeconds: {
        ...{ type: 'integer', minimum: 1, maximum: 60, default: 60 },
        description: 'Billed time is rounded up to a multiple of it.',
      },
      connection: {
        ...{ type: 'number', minimum: 0, maximum: 1_000_000, default: 0 },
        description: 'For each answered call; six decimals at most.',
      },
    },
    required: ['perMinute', 'currency'],
    additionalProperties: false,
  };
}

/** The fields of a trunk without its name. */
const FIELDS: Readonly<Record<string, Field>> = {
  proxy: text('Host, or host:port.', 'sip.example.com'),
  transport: choice(['udp', 'tcp', 'tls'], 'udp'),
  domain: text('Domain of the numbers and names, where it is not the proxy’s host.'),
  username: text('Name that the carrier knows us by, without host.'),
  password: text('Never shown.'),
  realm: text('Realm of the challenge that the password is for.'),
  register: { type: 'boolean', default: false },
  registerExpiresSeconds: { type: 'integer', default: 300 },
  optionsIntervalSeconds: { type: 'integer', default: 30 },
  numbers: list('E.164, or beginnings of numbers with a star.', ['+390612345678']),
  callerId: text('Number shown to the called party.'),
  callerIdHeader: choice(['pai', 'rpid', 'from'], 'pai'),
  account: text('Id of the account that the numbers belong to; the first account unless given.'),
  allowedSources: list('Addresses and networks that its calls come from.', ['203.0.113.0/24']),
  codecs: list('PCMU, PCMA, G722 and opus, the better one first; PCMU and PCMA unless given.', [
    ...CODECS,
  ]),
  srtp: choice(['required', 'preferred', 'off'], 'off'),
  transfer: choice(['auto', 'refer', 'bridge'], 'auto'),
  acceptTransfers: {
    type: 'boolean',
    description:
      'Whether its far ends may move calls to another party: by REFER, within the dial policy, or by INVITE with Replaces.',
    default: false,
  },
  maxCalls: { type: 'integer', description: 'Calls at a time, both ways together.' },
  callsPerSecond: { type: 'number', description: 'Calls that may begin in a second.' },
  advertisedAddress: text(
    'Address that this carrier sends to, where it is not PUBLIC_ADDRESS; `auto`: as the carrier sees it.',
  ),
  price: {
    type: 'object',
    description:
      'What the carrier charges for answered calls; the `cost` of calls follows from it. A change counts for calls that begin after it.',
    properties: {
      inbound: priceOf('Of calls that come in; null: unknown.'),
      outbound: priceOf('Of calls that go out; null: unknown.'),
    },
    additionalProperties: false,
  },
};

/** In changes, null takes the field away. */
function changeOf(name: string, field: Field): Field {
  if (name === 'proxy') return field;
  const { default: _, enum: names, type, ...rest } = field;
  const types = [type, 'null'].flat() as JsonType[];
  return { ...rest, type: types, ...(names && { enum: [...names, null] }) };
}

const CHANGES = Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, changeOf(name, field)]),
);

/** Body of `POST /api/trunks`, for the OpenAPI document: the rules of trunks check it. */
export const createTrunkSchema = z.looseObject({}).openapi('CreateTrunk', {
  type: 'object',
  required: ['name', 'proxy'],
  properties: {
    name: text('Letters, digits, dot, dash, underscore; 64 at most.', 'acme'),
    ...FIELDS,
  },
  additionalProperties: false,
});

/** Body of `PATCH /api/trunks/{trunkName}`, for the OpenAPI document: the rules of trunks check it. */
export const patchTrunkSchema = z.looseObject({}).openapi('PatchTrunk', {
  type: 'object',
  minProperties: 1,
  description: 'Only the fields that are there change; null takes one away.',
  properties: CHANGES,
  additionalProperties: false,
});

/** Result of a check: its steps, and the verdict. */
export const trunkCheckSchema = z
  .object({
    ok: z.boolean().openapi({ description: 'Whether every step is.' }),
    steps: z.array(
      z.object({
        step: z.string().openapi({ example: 'dns' }),
        ok: z.boolean(),
        message: z.string().openapi({
          description: 'What was found; where it is wrong, what to do.',
        }),
      }),
    ),
  })
  .openapi('TrunkCheck');

const checkProgressSchema = z.object({
  steps: z.array(
    z.object({
      step: z.string().openapi({ example: 'dns' }),
      state: z.enum(['waiting', 'running', 'ok', 'failed', 'skipped']).openapi({
        description: '`skipped`: a step before it made it impossible.',
      }),
      message: z.string().nullable().openapi({ description: 'Null unless `ok` or `failed`.' }),
    }),
  ),
});

/** Every event of a check in progress: its name, and its `data`. */
export const trunkCheckEventSchema = z
  .union([
    eventOf('progress', 'TrunkCheckProgressEvent', checkProgressSchema),
    eventOf('check', 'TrunkCheckResultEvent', trunkCheckSchema),
    // Written out: client libraries have a class of their own for `Error`.
    eventOf('failed', 'TrunkCheckFailedEvent', z.object({ error: errorSchema.shape.error })),
  ])
  .openapi('TrunkCheckEvent', {
    description:
      'An event of `POST /api/trunks/{trunkName}/check`, where it answers with a stream.',
  });

/** One event of a check that is streamed. */
export type TrunkCheckEvent = z.infer<typeof trunkCheckEventSchema>;
