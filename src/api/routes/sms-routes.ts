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
import { answerOnce } from '../http/answer-once.ts';
import {
  describeRoute,
  jsonBody,
  jsonResponse,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../http/describe-route.ts';
import { entityTag, requireMatch } from '../http/entity-tag.ts';
import { existing } from '../http/errors.ts';
import { limitBody } from '../http/request-body.ts';
import { pageQuerySchema } from '../schemas/query-schemas.ts';
import {
  createSmsGatewaySchema,
  optOutPageSchema,
  optOutPathSchema,
  optOutSchema,
  patchSmsGatewaySchema,
  smsGatewayPageSchema,
  smsGatewayPathSchema,
  smsGatewaySchema,
} from '../schemas/sms-schemas.ts';
import { viewOf } from '../serializers.ts';

/** As trunks: gateways hold credentials that cost money. */
const shared = { tag: 'SMS', scope: 'admin' } as const;

const listRoute = describeRoute({
  ...shared,
  operationId: 'listSmsGateways',
  method: 'get',
  path: '/api/sms-gateways',
  summary: 'Lists SMS gateways by name',
  request: { query: pageQuerySchema },
  responses: { 200: jsonResponse('A page of gateways.', smsGatewayPageSchema) },
});

const newRoute = describeRoute({
  ...shared,
  operationId: 'createSmsGateway',
  method: 'post',
  path: '/api/sms-gateways',
  summary: 'Makes an SMS gateway: where `send_sms` of agents goes out',
  description: `At most ${SMS_GATEWAY_LIMITS.gatewaysMax} an environment (409). Agents use the one that their \`smsGateway\` names, or the only one there is.`,
  request: { body: jsonBody(createSmsGatewaySchema) },
  responses: { 201: taggedResponse('The gateway was made.', smsGatewaySchema) },
});

const getRoute = describeRoute({
  ...shared,
  operationId: 'getSmsGateway',
  method: 'get',
  path: '/api/sms-gateways/{smsGatewayName}',
  summary: 'Shows an SMS gateway',
  request: { params: smsGatewayPathSchema },
  responses: { 200: taggedResponse('Every field but the secret.', smsGatewaySchema) },
});

const patchRoute = describeRoute({
  ...shared,
  operationId: 'updateSmsGateway',
  method: 'patch',
  path: '/api/sms-gateways/{smsGatewayName}',
  summary: 'Changes the fields that the body has',
  description:
    'Calls in progress keep the gateway as it was when they began. A `url` that leads to another server needs the secret again (400).',
  ...TAKES_IF_MATCH,
  request: { params: smsGatewayPathSchema, body: jsonBody(patchSmsGatewaySchema) },
  responses: { 200: taggedResponse('The gateway as it is now.', smsGatewaySchema) },
  errors: [412, 422],
});

const deleteRoute = describeRoute({
  ...shared,
  operationId: 'deleteSmsGateway',
  method: 'delete',
  path: '/api/sms-gateways/{smsGatewayName}',
  summary: 'Deletes an SMS gateway',
  description: 'A gateway that an agent names is 409.',
  ...TAKES_IF_MATCH,
  request: { params: smsGatewayPathSchema },
  responses: { 204: { description: 'The gateway is gone.' } },
  errors: [409, 412],
});

const listOptOutsRoute = describeRoute({
  ...shared,
  operationId: 'listSmsOptOuts',
  method: 'get',
  path: '/api/sms-opt-outs',
  summary: 'Lists the numbers that get no messages, newest first',
  request: { query: pageQuerySchema },
  responses: { 200: jsonResponse('A page of numbers.', optOutPageSchema) },
});

const putOptOutRoute = describeRoute({
  ...shared,
  operationId: 'putSmsOptOut',
  method: 'put',
  path: '/api/sms-opt-outs/{number}',
  summary: 'Takes a number that wants no messages',
  description:
    'An incoming message of STOP, or its like in other languages, does the same; START takes it back. A number that is no number is 422.',
  request: { params: optOutPathSchema },
  responses: { 200: jsonResponse('The number gets no messages.', optOutSchema) },
  errors: [422],
});

const deleteOptOutRoute = describeRoute({
  ...shared,
  operationId: 'deleteSmsOptOut',
  method: 'delete',
  path: '/api/sms-opt-outs/{number}',
  summary: 'Lets a number get messages again',
  request: { params: optOutPathSchema },
  responses: { 204: { description: 'The number may get messages.' } },
});

/** Adds `/api/sms-gateways`, their messages, and `/api/sms-opt-outs`. */
export function addSmsRoutes(api: ApiApp, deps: ApiDeps): void {
  addGatewayReads(api, deps);
  addGatewayWrites(api, deps);
  addOptOuts(api, deps);
}

function addGatewayReads(api: ApiApp, deps: ApiDeps): void {
  const { smsGateways } = deps;

  api.openapi(listRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { gateways, total } = await smsGateways.list(scopeOf(context), { limit, offset });
    const data = gateways.map((gateway) => readView(gateway, context, deps));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { smsGatewayName } = context.req.valid('param');
    const found = await smsGateways.find(scopeOf(context), smsGatewayName);
    const gateway = existing(found, 'SMS gateway');
    context.header('ETag', entityTag(gateway.updatedAt));
    return context.json(readView(gateway, context, deps), 200);
  });
}

function addGatewayWrites(api: ApiApp, deps: ApiDeps): void {
  const { clock, newId, webhookUrlRules: urlRules } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const facts = { id: newId('smsgw'), scope, now: clock.now(), urlRules };
        const gateway = createSmsGateway(draft, facts);
        await requireOwnSender(gateway, deps);
        return commit(async (stores) => {
          await stores.smsGateways.insert(gateway);
          return { status: 201, body: gatewayView(gateway, deps) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { smsGatewayName } = context.req.valid('param');
    const patch = context.req.valid('json');
    const facts = { now: clock.now(), urlRules };
    const seen = await deps.smsGateways.find(scopeOf(context), smsGatewayName);
    const before = existing(seen, 'SMS gateway');
    requireMatch(context, before.updatedAt, 'the SMS gateway');
    const planned = patchSmsGateway(before, patch, facts);
    await requireOwnSender(planned, deps);
    const changed = await deps.transaction(async (stores) => {
      const found = await stores.smsGateways.find(scopeOf(context), smsGatewayName);
      const gateway = existing(found, 'SMS gateway');
      requireMatch(context, gateway.updatedAt, 'the SMS gateway');
      const patched = patchSmsGateway(gateway, patch, facts);
      await stores.smsGateways.update(patched);
      return patched;
    });
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(gatewayView(changed, deps), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const { smsGatewayName } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const found = await stores.smsGateways.find(scope, smsGatewayName);
      requireMatch(context, existing(found, 'SMS gateway').updatedAt, 'the SMS gateway');
      await stores.smsGateways.delete(scope, smsGatewayName);
    });
    return context.body(null, 204);
  });
}

function addOptOuts(api: ApiApp, deps: ApiDeps): void {
  const { clock, smsOptOuts } = deps;

  api.openapi(listOptOutsRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { optOuts, total } = await smsOptOuts.list(scopeOf(context), { limit, offset });
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

/** A dashboard user who is no admin does not see the gateway's secret address. */
function readView(gateway: SmsGateway, context: ApiContext, deps: ApiDeps) {
  const view = gatewayView(gateway, deps);
  const user = context.get('caller')?.user;
  return user === undefined || mayActAs(user.role, 'admin') ? view : { ...view, callbackUrl: null };
}

function gatewayView(
  gateway: SmsGateway,
  { publicUrl, recordingSecret: secret }: Pick<ApiDeps, 'publicUrl' | 'recordingSecret'>,
) {
  return viewOf(smsGatewaySchema, {
    ...gateway,
    hasSecret: gateway.secret !== null,
    callbackUrl: gateway.kind === 'http' ? callbackUrl(gateway.id, { publicUrl, secret }) : null,
  });
}

const BODY_LIMIT = { bytesMax: 64 * 1024, message: 'expected 64 KiB at most' };

/**
 * Adds the address of callbacks: not of the customers' interface, since its formats are those of gateways. An unknown or
 * wrongly signed address is 404; anything else is 204, also what says nothing: gateways repeat what was refused.
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

/** A gateway tells of its own messages only. */
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
