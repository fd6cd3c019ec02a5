/** `send_sms` of simulated calls: every message is delivered at once, and none is sent. */
import type { Call } from '../../domain/call/call.ts';
import type { NewId } from '../../domain/ids.ts';
import { recordSmsNews, type SmsMessage } from '../../domain/sms/sms-message.ts';
import { otherPartyOf } from '../../domain/sms/sms-recipient.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSendSms } from '../../tool/sms/send-sms.ts';
import type { Tool } from '../../tool/tool.ts';

/** Gateway of simulated messages, as calls show it. */
const SANDBOX_GATEWAY = 'sandbox';

const TIMEOUT_MS = 10_000;

/** Makes the tool of one simulated call. Its messages are shown on the call as those of a live one are. */
export function sandboxSms(
  call: Call,
  parts: {
    readonly stores: Pick<Stores, 'smsMessages'> & { readonly transaction: RunTransaction };
    readonly newId: NewId;
    readonly clock: Clock;
  },
): Tool {
  const { clock, newId, stores } = parts;
  return createSendSms({
    recipient: { isAllowed: true, number: otherPartyOf(call) },
    isOwnNumber: async () => false,
    allowedLinks: [],
    timeoutMs: TIMEOUT_MS,
    sender: { send: async () => ({ status: 'delivered' }) },
    newMessage: (facts) => newMessage(call, { ...facts, id: newId('sms'), now: clock.now() }),
    admit: async (message) => {
      await stores.smsMessages.insert(message);
      return undefined;
    },
    record: (message, news) =>
      stores.transaction((within) => recordSmsNews(within, { message, news, now: clock.now() })),
    clock,
  });
}

function newMessage(
  { accountId, environment, id: callId }: Call,
  facts: Pick<SmsMessage, 'id' | 'to' | 'text'> & { readonly now: Date },
): SmsMessage {
  const { id, now, text, to } = facts;
  return {
    ...{ id, accountId, environment, callId, gateway: SANDBOX_GATEWAY, to, text },
    ...{ status: 'accepted', reason: null, providerId: null, createdAt: now, updatedAt: now },
  };
}
