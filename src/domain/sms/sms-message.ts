/** Messages that agents send during calls: their states, limits and the contract of their store. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import type { Call, CallStore } from '../call/call.ts';
import { laterThan } from '../ids.ts';

/**
 * States of a message: `accepted` is on its way to the gateway, `sent` was taken by it, `delivered` reached the telephone,
 * `failed` did not, and of `unknown` the gateway did not say in time whether it took it.
 */
export const SMS_STATES = ['accepted', 'sent', 'delivered', 'failed', 'unknown'] as const;

/** One of `SMS_STATES`. */
export type SmsState = (typeof SMS_STATES)[number];

/** A message of a call. */
export interface SmsMessage {
  /** `sms_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly callId: string;
  /** Name of the gateway. */
  readonly gateway: string;
  /** E.164. */
  readonly to: string;
  /** Null once the words of the call were erased. */
  readonly text: string | null;
  readonly status: SmsState;
  /** Why it failed, or why its state is unknown; null otherwise. */
  readonly reason: string | null;
  /** The gateway's own identifier of the message; null until it gave one. */
  readonly providerId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A message of a call that is about to be sent. */
export function newSms(
  { accountId, environment, id: callId }: Call,
  facts: Pick<SmsMessage, 'id' | 'gateway' | 'to' | 'text'>,
  now: Date,
): SmsMessage {
  return {
    ...{ accountId, environment, callId, ...facts },
    ...{ status: 'accepted', reason: null, providerId: null, createdAt: now, updatedAt: now },
  };
}

/** A gateway's report on a message. */
export interface SmsNews {
  readonly status: Exclude<SmsState, 'accepted'>;
  readonly reason?: string | null;
  readonly providerId?: string | null;
}

/** States that may follow each state. A message never goes back: reports may come twice, and in any order. */
const NEXT: Readonly<Record<SmsState, readonly SmsState[]>> = {
  accepted: ['sent', 'delivered', 'failed', 'unknown'],
  unknown: ['sent', 'delivered', 'failed'],
  sent: ['delivered', 'failed'],
  delivered: [],
  failed: [],
};

const REASON_CHARS_MAX = 200;

/** Moves a message to its next state, and keeps the gateway's identifier; undefined where the report changes nothing. */
export function moveSms(message: SmsMessage, news: SmsNews, now: Date): SmsMessage | undefined {
  const providerId = message.providerId ?? news.providerId ?? null;
  if (!NEXT[message.status].includes(news.status)) {
    return providerId === message.providerId ? undefined : { ...message, providerId };
  }
  return {
    ...message,
    status: news.status,
    reason: news.reason?.slice(0, REASON_CHARS_MAX) ?? null,
    providerId,
    updatedAt: laterThan(message.updatedAt, now),
  };
}

/** Most messages of one call, and of one number on a UTC day: more suggest prompt injection, or a nuisance. */
export const SMS_CAPS = { perCall: 3, perNumberADay: 5 } as const;

/** Why a message may not be sent. */
export type SmsRefusal = 'opted-out' | 'repeated' | 'call-cap' | 'number-cap' | 'daily-cap';

/** Keeps the messages of calls, for as long as the calls. */
export interface SmsMessageStore {
  /**
   * Saves a new message, where limits and opt-outs allow it, in one transaction.
   *
   * @param dailyMax Messages of the account and environment on this UTC day.
   * @returns why it was not saved; undefined when it was.
   */
  admit(message: SmsMessage, dailyMax: number): Promise<SmsRefusal | undefined>;

  /** Saves a message of a simulated call, without limits, since it is sent to no one. */
  insert(message: SmsMessage): Promise<void>;

  update(message: SmsMessage): Promise<void>;

  find(scope: Scope, id: string): Promise<SmsMessage | undefined>;

  findByProviderId(
    scope: Scope & { readonly gateway: string },
    providerId: string,
  ): Promise<SmsMessage | undefined>;

  /** Lists messages that are on their way to a gateway. */
  accepted(): Promise<readonly SmsMessage[]>;

  /** Oldest first. */
  ofCall(callId: string): Promise<readonly SmsMessage[]>;
}

/**
 * Records a gateway's report on a message, and puts a new state on the timeline of its call, without words and numbers. Run it
 * as one transaction: a report may overtake the answer to the request. A message that was erased meanwhile stays so.
 */
export async function recordSmsNews(
  stores: { readonly smsMessages: SmsMessageStore; readonly calls: CallStore },
  {
    message,
    news,
    now,
  }: { readonly message: SmsMessage; readonly news: SmsNews; readonly now: Date },
): Promise<void> {
  const stored = await stores.smsMessages.find(message, message.id);
  const moved = stored && moveSms(stored, news, now);
  if (moved === undefined) return;
  await stores.smsMessages.update(moved);
  if (moved.status === stored?.status) return;
  const { id: messageId, callId, gateway, reason, status, updatedAt } = moved;
  const why = reason === null ? {} : { reason };
  const details = { messageId, status, gateway, ...why };
  await stores.calls.addTimelineEntry(callId, { at: updatedAt, kind: 'message', details });
}

/** Marks as `unknown` the messages that an earlier process was sending when it stopped. */
export async function recoverSms(
  stores: { readonly smsMessages: SmsMessageStore; readonly calls: CallStore },
  now: Date,
): Promise<void> {
  const reason = 'the server stopped before the gateway answered';
  for (const message of await stores.smsMessages.accepted()) {
    await recordSmsNews(stores, { message, news: { status: 'unknown', reason }, now });
  }
}
