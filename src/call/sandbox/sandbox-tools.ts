/** Tools of simulated calls: the customer's own tools and documents, each used once, and `send_sms`, which sends nothing. */

import type { Call } from '../../domain/call/call.ts';
import type { NewId } from '../../domain/ids.ts';
import type { PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { recordSmsNews, type SmsMessage } from '../../domain/sms/sms-message.ts';
import { otherPartyOf } from '../../domain/sms/sms-rules.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import type { Clock, ScaledClock } from '../../lib/clock.ts';
import { createSendSms } from '../../tool/sms/send-sms.ts';
import type { Tool } from '../../tool/tool.ts';

/** Tools that one answer can use one after the other. */
const TOOLS_MAX = 4;

const TEXT = 'example';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Rules of the agent that use up to four tools, in their order; none where there is no tool. */
export function ownToolRules(tools: readonly Tool[]): readonly object[] {
  const used = tools.slice(0, TOOLS_MAX);
  const callOf = ({ description: { name, parameters } }: Tool) => ({
    call: { tool: name, arguments: exampleOf(parameters as Schema) },
  });
  const last = { say: 'I have looked that up for you. What else can I do?' };
  return used.flatMap((tool, index) => {
    const next = used[index + 1];
    const after = {
      id: `after ${tool.description.name}`,
      when: { tool: tool.description.name },
      ...(next === undefined ? last : callOf(next)),
    };
    const first = { id: 'look up', when: { regex: 'look that up for me' }, ...callOf(tool) };
    return index === 0 ? [first, after] : [after];
  });
}

/** Runs a tool while the call's clock is slow: a server elsewhere has as much time as in a real call. */
export function toolInRealTime(tool: Tool, clock: ScaledClock): Tool {
  return { ...tool, run: (...given) => inRealTime(clock, () => tool.run(...given)) };
}

/** Searches documents while the call's clock is slow. */
export function searchInRealTime(search: PassageSearch, clock: ScaledClock): PassageSearch {
  return { find: (...given) => inRealTime(clock, () => search.find(...given)) };
}

async function inRealTime<Result>(
  clock: ScaledClock,
  work: () => Promise<Result>,
): Promise<Result> {
  const speedUp = clock.slowDown();
  try {
    return await work();
  } finally {
    speedUp();
  }
}

/** A value that follows a schema, except for a `pattern`; of an object the required properties. */
export function exampleOf(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  const { items = {}, maximum, maxLength, minimum, minItems = 0, minLength = 0 } = schema;
  switch (schema.type) {
    case 'string':
      return TEXT.padEnd(minLength, '.').slice(0, maxLength);
    case 'number':
    case 'integer':
      return minimum ?? Math.min(1, maximum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: minItems }, () => exampleOf(items));
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, exampleOf(schema.properties?.[name] ?? {})]),
      );
  }
}

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
