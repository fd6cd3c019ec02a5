/** What an agent may do to the call it speaks on: hand it over, and put an appointment on record. */
import type { CallControl } from '../conversation/conversation-port.ts';
import type { Call } from '../domain/call.ts';
import { appointmentBookedEvent, callBridgedEvent } from '../domain/call-events.ts';
import type { ServiceEvent } from '../domain/service-event.ts';
import type { Leg } from '../telephony/carrier.ts';
import type { CallParts } from './call-parts.ts';

/**
 * Makes the control of one call.
 *
 * @param options.call gives the call as it stands.
 * @param options.save writes an event of the call, in order with everything else of its record.
 */
export function sessionControl(options: {
  readonly parts: Pick<CallParts, 'clock' | 'newId' | 'isOwnNumber'>;
  readonly leg: Leg;
  readonly call: () => Call;
  readonly save: (event: ServiceEvent) => void;
}): CallControl {
  const { parts, leg, call, save } = options;
  const stamp = () => ({ id: parts.newId('evt'), now: parts.clock.now() });
  return {
    transfer: async (number, summary) => {
      if (parts.isOwnNumber(number)) {
        throw new Error('Cannot hand the call over: the number rings here, which would be a loop');
      }
      await leg.transfer(number);
      const bridge = {
        bridgedTo: number,
        bridgedAt: parts.clock.now(),
        qualificationSummary: summary,
        // The caller was handed over by REFER: both parties speak without us.
        agentRole: 'left' as const,
      };
      save(callBridgedEvent(call(), bridge, stamp()));
    },
    appointmentBooked: (facts) => {
      const appointment = { id: parts.newId('appt'), ...facts };
      save(appointmentBookedEvent(call(), appointment, stamp()));
    },
  };
}
