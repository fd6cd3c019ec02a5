/** `/sms/{gatewayId}`: delivery reports and incoming messages of gateways; the signature in the address is the credential. */
import { CALLBACK_PATH, isCallback, readCallback } from '../../domain/sms/sms-callback.ts';
import type { SmsGateway } from '../../domain/sms/sms-gateway.ts';
import { recordSmsNews, type SmsMessage, type SmsNews } from '../../domain/sms/sms-message.ts';
import { takeIncoming } from '../../domain/sms/sms-rules.ts';
import type { Stores } from '../../domain/stores.ts';
import { jsonOf } from '../../lib/unknown-value.ts';
import type { ApiApp, ApiContext, ApiDeps } from '../api-env.ts';
import { limitBody } from '../http/request-body.ts';

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
