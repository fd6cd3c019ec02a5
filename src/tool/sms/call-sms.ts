/** `send_sms` of live calls: finds the gateway of the agent, and makes the tool of the call. */
import type { AccountStore } from '../../domain/account/account-store.ts';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import type { NumberOwners } from '../../domain/dialing/number-owner.ts';
import type { NewId } from '../../domain/ids.ts';
import { callbackUrl } from '../../domain/sms/sms-callback.ts';
import { gatewayOf, httpOf, isSenderOwn, type SmsGateway } from '../../domain/sms/sms-gateway.ts';
import { recordSmsNews, type SmsMessage, type SmsNews } from '../../domain/sms/sms-message.ts';
import { decideRecipient, otherPartyOf } from '../../domain/sms/sms-recipient.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import type { WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SigningKeys } from '../../webhook/signature.ts';
import type { ToolClient } from '../http-tool.ts';
import type { Tool } from '../tool.ts';
import { httpSmsSender } from './http-sms-sender.ts';
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
    const { clock, stores } = this.#options;
    return createSendSms({
      recipient,
      isOwnNumber: async (number) => (await stores.agents.findByPhoneNumber(number)) !== undefined,
      allowedLinks: gateway.allowedLinks,
      timeoutMs: gateway.timeoutMs,
      sender: this.#senderOf(agent, gateway),
      newMessage: (facts) => this.#newMessage(call, gateway, facts),
      admit: (message) => stores.smsMessages.admit(message, gateway.dailyMax),
      record: (message, news) =>
        stores.transaction((within) => recordSmsNews(within, { message, news, now: clock.now() })),
      clock,
    });
  }

  #newMessage(
    call: Call,
    gateway: SmsGateway,
    facts: { readonly to: string; readonly text: string },
  ): SmsMessage {
    const { clock, newId } = this.#options;
    const now = clock.now();
    return {
      id: newId('sms'),
      accountId: call.accountId,
      environment: call.environment,
      callId: call.id,
      gateway: gateway.name,
      ...facts,
      status: 'accepted',
      reason: null,
      providerId: null,
      createdAt: now,
      updatedAt: now,
    };
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

/** What became of a text: the carrier took it, did not answer, or refused it. */
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
