/** The tools of a simulated call: they always work, and reach nobody. */
import type { TransferTarget } from '../../domain/agent/agent.ts';
import { TRANSFER_MODES } from '../../domain/agent/transfer-mode.ts';
import type { Clock } from '../../lib/clock.ts';
import { createBookAppointment } from '../../tool/book-appointment.ts';
import type { Calendar } from '../../tool/calendar.ts';
import { endCall } from '../../tool/end-call.ts';
import type { Tool } from '../../tool/tool.ts';
import { Toolbox } from '../../tool/toolbox.ts';
import { createTransferCall, outcomeOf } from '../../tool/transfer-call.ts';

/** Where the caller is handed to when the agent names nobody: a number that is nobody's. */
const NOBODYS_TARGET: TransferTarget = { label: 'a person', number: '+15005550199' };

/** A calendar that is always free. */
export const sandboxCalendar: Calendar = {
  book: () => Promise.resolve({ calendarId: 'sandbox', confirmed: true }),
};

/**
 * Fills the toolbox of one simulated call. Transfer and booking are in it whether the agent lists them or not, and
 * where a transfer may go is not checked: nobody is dialled.
 */
export function sandboxToolbox(options: {
  readonly transferTargets: readonly TransferTarget[];
  /** E.164, of the scripted party. */
  readonly partyNumber: string;
  readonly clock: Clock;
}): Toolbox {
  const { clock, partyNumber, transferTargets } = options;
  const booking = { calendar: sandboxCalendar, attendeePhone: partyNumber };
  const tools = [
    transferTo(transferTargets[0] ?? NOBODYS_TARGET),
    createBookAppointment(booking),
    endCall,
  ];
  return new Toolbox({ tools, clock });
}

function transferTo(target: TransferTarget): Tool {
  const rules = { targets: [target], systemPrompt: '', agentNumber: null, ownNumbers: [] };
  return {
    ...createTransferCall(rules),
    run: async (args, context) => {
      const mode = TRANSFER_MODES.find((known) => known === args.mode) ?? 'cold';
      await context.transfer(target.number, String(args.summary ?? ''), mode);
      return outcomeOf(mode);
    },
  };
}
