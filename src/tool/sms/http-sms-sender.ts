/** Sends messages over a gateway's HTTP interface: one request, never a second one. */
import {
  readAnswer,
  requestOf,
  type SmsPreset,
  type SmsRequest,
} from '../../domain/sms/http-template.ts';
import type { HttpWay, SmsGateway } from '../../domain/sms/sms-gateway.ts';
import type { SmsMessage, SmsNews } from '../../domain/sms/sms-message.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import { type Answer, answerOfError } from '../../webhook/answer.ts';
import { type SigningKeys, signatureHeaders } from '../../webhook/signature.ts';
import type { ToolClient } from '../http-tool.ts';
import type { SmsSender } from './send-sms.ts';

/** What all senders share. */
export interface HttpSmsParts {
  readonly client: () => Promise<ToolClient>;
  readonly rules: WebhookUrlRules;
  /** Signs requests to servers of the customer's, as webhooks are signed. */
  readonly keys: () => Promise<SigningKeys>;
  readonly statusUrl: (messageId: string) => Promise<string>;
  readonly now: () => Date;
}

/** Errors before a connection was there: the gateway has seen nothing of the message. */
const NOT_CONNECTED =
  /\((?:ECONNREFUSED|ENOTFOUND|ENODATA|EAI_AGAIN|ETIMEOUT|ESERVFAIL|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME_INVALID)\)$/;

/** Makes the sender of a gateway. */
export function httpSmsSender(gateway: SmsGateway, way: HttpWay, parts: HttpSmsParts): SmsSender {
  return {
    send: async (message, signal) => {
      let request: SmsRequest;
      try {
        request = await prepared(message, { gateway, way, parts });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { status: 'failed', reason: `it was not sent: ${why}` };
      }
      return post(request, { way, parts, signal });
    },
  };
}

/** @throws {Error} saying why there can be no request. */
async function prepared(
  message: SmsMessage,
  from: { readonly gateway: SmsGateway; readonly way: HttpWay; readonly parts: HttpSmsParts },
): Promise<SmsRequest> {
  const { gateway, way, parts } = from;
  const facts = { ...factsOf(gateway, message), statusUrl: await parts.statusUrl(message.id) };
  const request = requestOf(way.url, way.template, facts);
  // It was checked when the gateway was made, but the rules may be others by now.
  checkWebhookUrl(request.url.href, parts.rules);
  const signed = await signatureOf(way.preset, { message, body: request.body, parts });
  return { ...request, headers: { ...request.headers, ...signed } };
}

/** @throws {Error} at the signal: then it is not known whether the gateway has the message. */
async function post(
  request: SmsRequest,
  by: { readonly way: HttpWay; readonly parts: HttpSmsParts; readonly signal: AbortSignal },
): Promise<SmsNews> {
  const { parts, signal, way } = by;
  const client = await parts.client();
  try {
    const answer = await client.send({ ...request, method: 'POST' }, signal);
    return newsOf(readAnswer(way.preset, way.template, answer));
  } catch (error) {
    if (signal.aborted) throw error;
    return newsOfError(answerOfError(error instanceof Error ? error : Error(String(error))));
  }
}

function factsOf({ from, secret, username }: SmsGateway, { id, text, to }: SmsMessage) {
  return { id, to, from, text: text ?? '', username: username ?? '', secret: secret ?? '' };
}

/** Only a customer's own server knows the secret that signs. */
async function signatureOf(
  preset: SmsPreset,
  given: { readonly message: SmsMessage; readonly body: string; readonly parts: HttpSmsParts },
): Promise<Record<string, string>> {
  if (preset !== 'webhook') return {};
  const { message, body, parts } = given;
  const timestamp = String(Math.floor(parts.now().getTime() / 1000));
  return signatureHeaders({ id: message.id, timestamp, body }, await parts.keys());
}

function newsOf(answer: ReturnType<typeof readAnswer>): SmsNews {
  if (answer.kind === 'sent') return { status: 'sent', providerId: answer.providerId };
  return { status: answer.kind === 'refused' ? 'failed' : 'unknown', reason: answer.reason };
}

/** A connection that broke after it was made leaves open whether the gateway has read the message. */
function newsOfError({ kind, error }: Answer): SmsNews {
  const isUnseen = kind === 'refused' || NOT_CONNECTED.test(error ?? '');
  return { status: isUnseen ? 'failed' : 'unknown', reason: error };
}
