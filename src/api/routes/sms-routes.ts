/** `/api/sms-gateways` and `/api/sms-opt-outs`: gateways of `send_sms`, numbers that want no messages, and the callbacks of gateways. */
import { mayActAs } from '../../domain/account/user.ts';
import { notOwn } from '../../domain/dialing/number-owner.ts';
import { parsePhoneNumber } from '../../domain/dialing/phone-number.ts';
import {
  CALLBACK_PATH,
  callbackUrl,
  isCallback,
  readCallback,
} from '../../domain/sms/sms-callback.ts';
import {
  createSmsGateway,
  isSenderOwn,
  patchSmsGateway,
  SMS_GATEWAY_LIMITS,
  type SmsGateway,
} from '../../domain/sms/sms-gateway.ts';
import { recordSmsNews, type SmsMessage, type SmsNews } from '../../domain/sms/sms-message.ts';
import { takeIncoming } from '../../domain/sms/sms-rules.ts';
import type { Stores } from '../../domain/stores.ts';
import { jsonOf } from '../../lib/unknown-value.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { limitBody } from '../http/request-body.ts';
import { pageQuerySchema } from '../schemas/query-schemas.ts';
import {
  createSmsGatewaySchema,
  optOutPathSchema,
  optOutSchema,
  patchSmsGatewaySchema,
  smsGatewaySchema,
} from '../schemas/sms-schemas.ts';
import { viewOf } from '../serializers.ts';
import { addNamedRecordRoutes } from './named-record-routes.ts';

/** Scope `admin`, as for trunks: gateways hold credentials that cost money. */
const adminRoute = routesOf({ tag: 'SMS', scope: 'admin' });

const GATEWAYS = {
  noun: 'SMS gateway',
  name: 'SmsGateway',
  tag: 'SMS',
  path: '/api/sms-gateways',
  param: 'smsGatewayName',
  readScope: 'admin',
  writeScope: 'admin',
  words: {
    list: { summary: 'Lists SMS gateways by name', success: 'A page of gateways.' },
    create: {
      summary: 'Makes an SMS gateway: where `send_sms` of agents goes out',
      description: `At most ${SMS_GATEWAY_LIMITS.gatewaysMax} an environment (409). Agents use the one that their \`smsGateway\` names, or the only one there is.`,
      success: 'The gateway was made.',
    },
    get: { summary: 'Shows an SMS gateway', success: 'Every field but the secret.' },
    update: {
      summary: 'Changes the fields that the body has',
      description:
        'Calls in progress keep the gateway as it was when they began. A `url` that leads to another server needs the secret again (400).',
      success: 'The gateway as it is now.',
    },
    delete: {
      summary: 'Deletes an SMS gateway',
      description: 'A gateway that an agent names is 409.',
      success: 'The gateway is gone.',
    },
  },
  createSchema: createSmsGatewaySchema,
  patchSchema: patchSmsGatewaySchema,
  schema: smsGatewaySchema,
  storeOf: (stores: Pick<Stores, 'smsGateways'>) => stores.smsGateways,
} as const;

const listOptOutsRoute = adminRoute('get', '/api/sms-opt-outs', {
  operationId: 'listSmsOptOuts',
  summary: 'Lists the numbers that get no messages, newest first',
  request: { query: pageQuerySchema },
  responses: { 200: pageResponse('A page of numbers.', 'SmsOptOutPage', optOutSchema) },
});

const putOptOutRoute = adminRoute('put', '/api/sms-opt-outs/{number}', {
  operationId: 'putSmsOptOut',
  summary: 'Takes a number that wants no messages',
  description:
    'An incoming message of STOP, or its like in other languages, does the same; START takes it back. A number that is no number is 422.',
  request: { params: optOutPathSchema },
  responses: { 200: jsonResponse('The number gets no messages.', optOutSchema) },
  errors: [422],
});

const deleteOptOutRoute = adminRoute('delete', '/api/sms-opt-outs/{number}', {
  operationId: 'deleteSmsOptOut',
  summary: 'Lets a number get messages again',
  request: { params: optOutPathSchema },
  responses: { 204: { description: 'The number may get messages.' } },
});

/** Adds `/api/sms-gateways`, their messages, and `/api/sms-opt-outs`. */
export function addSmsRoutes(api: ApiApp, deps: ApiDeps): void {
  const { newId, webhookUrlRules: urlRules } = deps;
  addNamedRecordRoutes(api, deps, {
    ...GATEWAYS,
    create: (draft, facts) => createSmsGateway(draft, { ...facts, id: newId('smsgw'), urlRules }),
    patch: (gateway, patch, now) => patchSmsGateway(gateway, patch, { now, urlRules }),
    check: (gateway) => requireOwnSender(gateway, deps),
    view: (gateway, context) => gatewayView(gateway, deps, context),
  });
  addOptOuts(api, deps);
}

function addOptOuts(api: ApiApp, deps: ApiDeps): void {
  const { clock, smsOptOuts } = deps;

  api.openapi(listOptOutsRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { items: optOuts, total } = await smsOptOuts.list(scopeOf(context), { limit, offset });
    const data = optOuts.map((optOut) => viewOf(optOutSchema, optOut));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(putOptOutRoute, async (context) => {
    const { number: text } = context.req.valid('param');
    const number = parsePhoneNumber(text, 'number');
    const optOut = { number, createdAt: clock.now() };
    await smsOptOuts.add(scopeOf(context), optOut);
    return context.json(viewOf(optOutSchema, optOut), 200);
  });

  api.openapi(deleteOptOutRoute, async (context) => {
    const { number } = context.req.valid('param');
    const isGone = await smsOptOuts.remove(scopeOf(context), number);
    existing(isGone || undefined, 'opt-out');
    return context.body(null, 204);
  });
}

/** @throws {ServiceError} UNPROCESSABLE when messages would go out from the number of another account. */
async function requireOwnSender(
  gateway: SmsGateway,
  { numberOwners }: Pick<ApiDeps, 'numberOwners'>,
): Promise<void> {
  if (!(await isSenderOwn(gateway, numberOwners))) throw notOwn('from', gateway.from);
}

/** @param context of a request that reads: a dashboard user who is no admin does not see the gateway's secret address. */
function gatewayView(
  gateway: SmsGateway,
  { publicUrl, recordingSecret: secret }: Pick<ApiDeps, 'publicUrl' | 'recordingSecret'>,
  context: ApiContext | undefined,
) {
  const user = context?.get('caller')?.user;
  const isShown = gateway.kind === 'http' && (user === undefined || mayActAs(user.role, 'admin'));
  return viewOf(smsGatewaySchema, {
    ...gateway,
    hasSecret: gateway.secret !== null,
    callbackUrl: isShown ? callbackUrl(gateway.id, { publicUrl, secret }) : null,
  });
}

const BODY_LIMIT = { bytesMax: 64 * 1024, message: 'expected 64 KiB at most' };

/**
 * Adds the path of callbacks. It is not part of the customers' interface, since its formats are those of gateways. An unknown
 * or wrongly signed path is 404; anything else is 204, even without content: gateways repeat a request that was refused.
 */
export function addSmsCallbackRoutes(api: ApiApp, deps: ApiDeps): void {
  const path = `${CALLBACK_PATH}/:gatewayId`;
  const isGenuine = ({ req }: ApiContext) =>
    isCallback(req.param('gatewayId') ?? '', req.query('signature') ?? '', deps.recordingSecret);
  // A body without the signature is not read.
  const limited = limitBody({ ...BODY_LIMIT, mayRead: isGenuine });
  api.on(['GET', 'POST'], path, limited, async (context) => {
    if (!isGenuine(context)) return context.notFound();
    const gatewayId = context.req.param('gatewayId');
    const { message } = context.req.query();
    const gateway = await deps.smsGateways.findById(gatewayId);
    if (gateway === undefined || gateway.preset === null) return context.notFound();
    const callback = readCallback(gateway.preset, bodyOf(context));
    if (callback?.kind === 'report') {
      const { news, providerId } = callback;
      await deps.transaction((stores) =>
        report(stores, { gateway, news, messageId: message, providerId, now: deps.clock.now() }),
      );
    }
    if (callback?.kind === 'incoming') {
      const { clock, smsOptOuts } = deps;
      await takeIncoming(callback, gateway, { smsOptOuts, now: clock.now() });
    }
    return context.body(null, 204);
  });
}

/** The fields of a query, a form, or JSON. */
function bodyOf(context: ApiContext): unknown {
  if (context.req.method === 'GET') return context.req.query();
  const text = context.get('bodyText');
  const isForm = /urlencoded/i.test(context.req.header('content-type') ?? '');
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : jsonOf(text);
}

async function report(
  stores: Stores,
  told: {
    readonly gateway: SmsGateway;
    readonly news: SmsNews;
    readonly messageId: string | undefined;
    readonly providerId: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { news, now } = told;
  const message = await messageOf(stores, told);
  if (message !== undefined) await recordSmsNews(stores, { message, news, now });
}

/** Finds the message of a report; a gateway can report on its own messages only. */
async function messageOf(
  { smsMessages }: Stores,
  told: {
    readonly gateway: SmsGateway;
    readonly messageId: string | undefined;
    readonly providerId: string | null;
  },
): Promise<SmsMessage | undefined> {
  const { gateway, messageId, providerId } = told;
  if (messageId !== undefined) {
    const message = await smsMessages.find(gateway, messageId);
    return message?.gateway === gateway.name ? message : undefined;
  }
  if (providerId === null) return undefined;
  const { accountId, environment, name } = gateway;
  return smsMessages.findByProviderId({ accountId, environment, gateway: name }, providerId);
}
