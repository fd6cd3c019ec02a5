/** Rule book and tools of the agent in a simulated call; pure */
import type { TransferTarget } from '../../domain/agent/agent.ts';
import { TRANSFER_MODES } from '../../domain/agent/transfer-rules.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import { type Calendar, createBookAppointment } from '../../tool/book-appointment.ts';
import { CollectedDigits, createCollectDigits } from '../../tool/keypad-tools.ts';
import { endCall, type Tool } from '../../tool/tool.ts';
import { Toolbox } from '../../tool/toolbox.ts';
import { createTransferCall, outcomeOf } from '../../tool/transfer-call.ts';
import { ownToolRules } from './sandbox-tools.ts';

/** When the appointment of a simulated call begins, for how long it lasts, and for whom it is. */
export const SANDBOX_APPOINTMENT = {
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
