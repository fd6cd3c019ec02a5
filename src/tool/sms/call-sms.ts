/** `send_sms` of live calls: finds the gateway of the agent, makes the tool, and sends over HTTP in one request. */
import type { AccountStore } from '../../domain/account/account-rules.ts';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import type { NumberOwners } from '../../domain/dialing/number-owner.ts';
import type { NewId } from '../../domain/ids.ts';
import {
  readAnswer,
  requestOf,
  type SmsPreset,
  type SmsRequest,
} from '../../domain/sms/http-template.ts';
import { callbackUrl } from '../../domain/sms/sms-callback.ts';
import {
  gatewayOf,
  type HttpWay,
  httpOf,
  isSenderOwn,
  type SmsGateway,
} from '../../domain/sms/sms-gateway.ts';
import {
  newSms,
  recordSmsNews,
  type SmsMessage,
  type SmsNews,
} from '../../domain/sms/sms-message.ts';
import { decideRecipient, otherPartyOf } from '../../domain/sms/sms-rules.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { type Answer, answerOfError } from '../../webhook/answer.ts';
import { type SigningKeys, signatureHeaders } from '../../webhook/signature.ts';
import type { ToolClient } from '../http-tool.ts';
import type { Tool } from '../tool.ts';
import { createSendSms, type SmsSender } from './send-sms.ts';
import type { SmppGateways } from './smpp/smpp-gateways.ts';

interface Options {
  readonly stores: Pick<Stores, 'smsGateways' | 'smsMessages' | 'agents'> & {
    readonly accounts: Pick<AccountStore, 'find'>;
    readonly transaction: RunTransaction;
  };
  readonly numberOwners: Pick<NumberOwners, 'mayUse'>;
  readonly rules: WebhookUrlRules;
  readonly client: () => Promise<ToolClient>;
  /** Sends over the trunk with the number that a message is from. */
  readonly sendText: SendText;
  readonly smpp: SmppGateways;
  /** Signing keys of an account and environment. */
  readonly keysOf: (scope: Scope) => Promise<SigningKeys>;
  /** The server's address as gateways reach it, without a slash at its end. */
  readonly publicUrl: string;
  /** Key of the links that gateways report to. */
  readonly callbackSecret: () => Promise<string>;
  readonly newId: NewId;
  readonly clock: Clock;
}

/** Makes the tool of each call. */
export class CallSms {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Connects to SMPP gateways. */
  start(): void {
    this.#options.smpp.start();
  }

  /** Ends the sessions of SMPP gateways. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#options.smpp.stop();
  }

  /** The tool, where the agent lists it and has a gateway that its account may send from. */
  async toolsOf(agent: Agent, call: Call): Promise<readonly Tool[]> {
    if (!agent.tools.includes('send_sms')) return [];
    const { numberOwners, stores } = this.#options;
    const { accounts, smsGateways } = stores;
    const [gateway, account] = await Promise.all([
      gatewayOf(agent, smsGateways),
      accounts.find(agent.accountId),
    ]);
    if (gateway === undefined || !(await isSenderOwn(gateway, numberOwners))) return [];
    const allowedCountries = account?.allowedCountries ?? undefined;
    const homeNumbers = [agent.phoneNumber, gateway.from];
    const recipient = decideRecipient(otherPartyOf(call), { allowedCountries, homeNumbers });
    return [this.#toolOf({ agent, call, gateway, recipient })];
  }

  #toolOf(given: {
    readonly agent: Agent;
    readonly call: Call;
    readonly gateway: SmsGateway;
    readonly recipient: ReturnType<typeof decideRecipient>;
  }): Tool {
    const { agent, call, gateway, recipient } = given;
    const { clock, newId, stores } = this.#options;
    return createSendSms({
      recipient,
      isOwnNumber: async (number) => (await stores.agents.findByPhoneNumber(number)) !== undefined,
      allowedLinks: gateway.allowedLinks,
      timeoutMs: gateway.timeoutMs,
      sender: this.#senderOf(agent, gateway),
      newMessage: (facts) =>
        newSms(call, { ...facts, id: newId('sms'), gateway: gateway.name }, clock.now()),
      admit: (message) => stores.smsMessages.admit(message, gateway.dailyMax),
      record: (message, news) =>
        stores.transaction((within) => recordSmsNews(within, { message, news, now: clock.now() })),
      clock,
    });
  }

  #senderOf(agent: Agent, gateway: SmsGateway): SmsSender {
    const { callbackSecret, client, clock, keysOf, publicUrl, rules, sendText } = this.#options;
    if (gateway.kind === 'smpp') {
      return { send: (message, signal) => this.#options.smpp.send(gateway, message, signal) };
    }
    const way = httpOf(gateway);
    if (way === undefined) return sipSmsSender(gateway.from, sendText);
    return httpSmsSender(gateway, way, {
      client,
      rules,
      keys: () => keysOf(agent),
      statusUrl: async (messageId: string) =>
        callbackUrl(gateway.id, { publicUrl, secret: await callbackSecret(), messageId }),
      now: () => clock.now(),
    });
  }
}

/** Result of sending a text: the carrier took it, did not answer, or refused it. */
type TextOutcome =
  | { readonly kind: 'taken' | 'unanswered' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends a text once. Never rejects. */
type SendText = (message: {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}) => Promise<TextOutcome>;

/** Makes the sender of a number. A carrier that took a message says no more of it: reports are not a part of RFC 3428. */
function sipSmsSender(from: string, sendText: SendText): SmsSender {
  return {
    send: async ({ text, to }) => newsOf(await sendText({ from, to, text: text ?? '' })),
  };
}

function newsOf(outcome: TextOutcome): SmsNews {
  switch (outcome.kind) {
    case 'taken':
      return { status: 'sent' };
    case 'refused':
      return { status: 'failed', reason: outcome.reason };
    case 'unanswered':
      return { status: 'unknown', reason: 'the carrier did not answer' };
    default:
      return outcome satisfies never;
  }
}

/** Dependencies that all senders over HTTP share. */
interface HttpSmsParts {
  readonly client: () => Promise<ToolClient>;
  readonly rules: WebhookUrlRules;
  /** Signs requests to servers of the customer's, as webhooks are signed. */
  readonly keys: () => Promise<SigningKeys>;
  readonly statusUrl: (messageId: string) => Promise<string>;
  readonly now: () => Date;
}

/** Errors before the connection is established: the gateway has not received the message. */
const NOT_CONNECTED =
  /\((?:ECONNREFUSED|ENOTFOUND|ENODATA|EAI_AGAIN|ETIMEOUT|ESERVFAIL|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_WRONG_VERSION_NUMBER)\)$/;

/** Makes the sender of a gateway. */
export function httpSmsSender(gateway: SmsGateway, way: HttpWay, parts: HttpSmsParts): SmsSender {
  return {
    send: async (message, signal) => {
      let request: SmsRequest;
      try {
        request = await prepared(message, { gateway, way, parts });
      } catch (error) {
        return { status: 'failed', reason: `it was not sent: ${messageOf(error)}` };
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
    return newsOfAnswer(readAnswer(way.preset, way.template, answer));
  } catch (error) {
    if (signal.aborted) throw error;
    return newsOfError(answerOfError(error instanceof Error ? error : Error(String(error))));
  }
}

function factsOf({ from, secret, username }: SmsGateway, { id, text, to }: SmsMessage) {
  return { id, to, from, text: text ?? '', username: username ?? '', secret: secret ?? '' };
}

/** Headers that sign a request to a customer's own server; no other server knows the secret. */
async function signatureOf(
  preset: SmsPreset,
  given: { readonly message: SmsMessage; readonly body: string; readonly parts: HttpSmsParts },
): Promise<Record<string, string>> {
  if (preset !== 'webhook') return {};
  const { message, body, parts } = given;
  const timestamp = String(Math.floor(parts.now().getTime() / 1000));
  return signatureHeaders({ id: message.id, timestamp, body }, await parts.keys());
}

function newsOfAnswer(answer: ReturnType<typeof readAnswer>): SmsNews {
  if (answer.kind === 'sent') return { status: 'sent', providerId: answer.providerId };
  return { status: answer.kind === 'refused' ? 'failed' : 'unknown', reason: answer.reason };
}

/** A connection that broke after it was made leaves open whether the gateway has read the message. */
function newsOfError({ kind, error }: Answer): SmsNews {
  const isUnseen = kind === 'refused' || NOT_CONNECTED.test(error ?? '');
  return { status: isUnseen ? 'failed' : 'unknown', reason: error };
}
