/** Rule book and tools of the agent in a simulated call: the customer's own tools and documents, each used once, and `send_sms`, which sends nothing. */

import type { TransferTarget } from '../../domain/agent/agent.ts';
import { TRANSFER_MODES } from '../../domain/agent/transfer-rules.ts';
import type { Call } from '../../domain/call/call.ts';
import type { NewId } from '../../domain/ids.ts';
import type { PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { newSms, recordSmsNews } from '../../domain/sms/sms-message.ts';
import { otherPartyOf } from '../../domain/sms/sms-rules.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import type { ArgumentSchema } from '../../domain/tool/argument-schema.ts';
import { type Clock, DAY_MS, type ScaledClock } from '../../lib/clock.ts';
import { type Calendar, createBookAppointment } from '../../tool/book-appointment.ts';
import { CollectedDigits, createCollectDigits } from '../../tool/keypad-tools.ts';
import { createSendSms } from '../../tool/sms/send-sms.ts';
import { endCall, type Tool } from '../../tool/tool.ts';
import { Toolbox } from '../../tool/toolbox.ts';
import { createTransferCall, outcomeOf } from '../../tool/transfer-call.ts';

/** When the appointment of a simulated call begins, for how long it lasts, and for whom it is. */
const SANDBOX_APPOINTMENT = {
  title: 'Consultation',
  durationMinutes: 30,
  attendeeName: 'Alex Morgan',
} as const;

/** 10:00 UTC of the day after `now`. */
export function tomorrowAtTen(now: Date): Date {
  const tomorrow = new Date(now.getTime() + DAY_MS);
  return new Date(
    Date.UTC(tomorrow.getUTCFullYear(), tomorrow.getUTCMonth(), tomorrow.getUTCDate(), 10),
  );
}

/**
 * Makes the rule book of one call. Every scenario has its outcome by it, whichever language model the server has: the
 * same number always makes the same call, at once and at no cost.
 *
 * @param ownTools the customer's own, which the party of `own_tools` has used.
 */
export function sandboxRules(now: Date, ownTools: readonly Tool[] = []) {
  const appointment = { ...SANDBOX_APPOINTMENT, startTime: tomorrowAtTen(now).toISOString() };
  const transfer = {
    destination: '{first}',
    summary: 'The caller has a question about a contract and asked for a person.',
  };
  return {
    name: 'sandbox',
    rules: [
      ...[
        answer('hours', 'opening hours', 'We are open from nine to five, from Monday to Friday.'),
        answer('place', 'where can I find you', 'You will find us at Market Square twelve.'),
        answer('bye', 'goodbye', 'You are welcome. Goodbye.'),
        answer('line', 'can you hear me', 'Yes, I can hear you well. How can I help you today?'),
        answer('book', 'appointment', 'Tomorrow at ten is free. Please press one to confirm.'),
      ],
      {
        id: 'person',
        when: { regex: 'speak to a person' },
        say: 'Of course. One moment, please, I am connecting you.',
        call: { tool: 'transfer_call', arguments: transfer },
        priority: 1,
      },
      {
        id: 'confirmed',
        when: { regex: 'pressed 1' },
        say: 'One moment, please.',
        call: { tool: 'book_appointment', arguments: appointment },
      },
      {
        id: 'booked',
        when: { tool: 'book_appointment' },
        say: 'Your appointment is booked. We will see you tomorrow at ten.',
      },
      {
        id: 'message',
        when: { regex: 'address as a message' },
        call: { tool: 'send_sms', arguments: { text: 'Our address: Market Square 12.' } },
      },
      {
        id: 'sent',
        when: { tool: 'send_sms' },
        say: 'The message is on its way. Has it arrived?',
      },
      {
        id: 'card',
        when: { regex: 'pay by card' },
        say: 'Please type the number of your card, and press the hash key at the end.',
        call: { tool: 'collect_digits', arguments: { name: 'card_number', isCard: true } },
      },
      {
        id: 'collected',
        when: { tool: 'collect_digits' },
        say: 'Thank you, the number is complete.',
      },
      ...ownToolRules(ownTools),
      {
        id: 'mailbox',
        when: { regex: 'leave a message' },
        say: 'Hello, I am sorry that I missed you. I will call again tomorrow. Goodbye.',
        call: { tool: 'end_call' },
        priority: 1,
      },
    ],
    otherwise: { say: 'I see. What else can I do for you?' },
  };
}

function answer(id: string, regex: string, say: string) {
  return { id, when: { regex }, say };
}

/** Transfer target of an agent without targets: a number that is assigned to no one. */
const NOBODYS_TARGET: TransferTarget = { label: 'a person', number: '+15005550199' };

/** A calendar that is always free. */
const sandboxCalendar: Calendar = {
  book: () => Promise.resolve({ calendarId: 'sandbox', confirmed: true }),
};

/**
 * Fills the toolbox of one simulated call. Transfer, booking and keypad are in it whether the agent lists them or not, and
 * transfer targets are not checked, because no call is placed.
 */
export function sandboxToolbox(options: {
  readonly transferTargets: readonly TransferTarget[];
  /** E.164, of the scripted party. */
  readonly partyNumber: string;
  /** `send_sms`, and the customer's own; none unless given. */
  readonly callTools?: readonly Tool[];
  readonly clock: Clock;
}): Toolbox {
  const { callTools = [], clock, partyNumber, transferTargets } = options;
  const collected = new CollectedDigits();
  const booking = { calendar: sandboxCalendar, attendeePhone: partyNumber };
  const tools = [
    transferTo(transferTargets[0] ?? NOBODYS_TARGET),
    createBookAppointment(booking),
    createCollectDigits(collected),
    ...callTools,
    endCall,
  ];
  return new Toolbox({ tools, clock, collected });
}

function transferTo(target: TransferTarget): Tool {
  const rules = { targets: [target], systemPrompt: '', agentNumber: null, ownNumbers: [] };
  return {
    ...createTransferCall(rules),
    // No call is placed.
    refusal: () => undefined,
    run: async (args, context) => {
      const mode = TRANSFER_MODES.find((known) => known === args.mode) ?? 'cold';
      await context.transfer(target.number, String(args.summary ?? ''), mode);
      return outcomeOf(mode);
    },
  };
}

/** Tools that one answer can use one after the other. */
const TOOLS_MAX = 4;

const TEXT = 'example';

/** Rules of the agent that use up to four tools, in their order; none where there is no tool. */
function ownToolRules(tools: readonly Tool[]): readonly object[] {
  const used = tools.slice(0, TOOLS_MAX);
  const callOf = ({ description: { name, parameters } }: Tool) => ({
    call: { tool: name, arguments: exampleOf(parameters as ArgumentSchema) },
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
export function exampleOf(schema: ArgumentSchema): unknown {
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

/** Makes the tool of one simulated call. Its messages are shown on the call, like those of live calls. */
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
    newMessage: (facts) =>
      newSms(call, { ...facts, id: newId('sms'), gateway: SANDBOX_GATEWAY }, clock.now()),
    admit: async (message) => {
      await stores.smsMessages.insert(message);
      return undefined;
    },
    record: (message, news) =>
      stores.transaction((within) => recordSmsNews(within, { message, news, now: clock.now() })),
    clock,
  });
}
