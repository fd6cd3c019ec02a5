/** What may be done to a call that goes on, by its agent or at a customer's wish: hand it over, and put an appointment on record. */
import type { CallControl } from '../conversation/conversation-port.ts';
import type { Appointment } from '../domain/appointment.ts';
import type { Call } from '../domain/call.ts';
import { appointmentBookedEvent, callBridgedEvent } from '../domain/call-events.ts';
import type { TransferStart } from '../domain/live-calls.ts';
import type { ServiceEvent } from '../domain/service-event.ts';
import type { Logger } from '../lib/logger.ts';
import type { Leg } from '../telephony/carrier.ts';
import type { CallJournal } from './call-journal.ts';
import type { CallParts, TalkingParty } from './call-parts.ts';
import type { SessionTimeline } from './session-timeline.ts';

export interface SessionControlOptions {
  readonly parts: Pick<CallParts, 'calls' | 'clock' | 'newId' | 'isOwnNumber'>;
  readonly leg: Leg;
  /** Gives the call as it stands. */
  readonly call: () => Call;
  /** Gives who speaks for the agent. */
  readonly party: () => Pick<TalkingParty, 'handingOver'> | undefined;
  readonly journal: CallJournal;
  readonly timeline: SessionTimeline;
  readonly log: Logger;
}

/** The control of one call. */
export class SessionControl {
  /** What the agent may ask for. */
  readonly ofAgent: CallControl = {
    transfer: (number, summary, announcement) => this.#transfer(number, summary, announcement),
    appointmentBooked: (facts) => this.#book(facts),
  };
  readonly #options: SessionControlOptions;
  /** Hand-overs that are under way or about to begin; the leg takes one at a time. */
  #transfers = 0;

  constructor(options: SessionControlOptions) {
    this.#options = options;
  }

  /** Begins to hand the caller over at a customer's wish, who has said nothing of what the caller wants. */
  beginTransfer(number: string): TransferStart {
    if (this.#transfers > 0) return 'transferring';
    this.#transfers += 1;
    queueMicrotask(() => {
      this.#transfers -= 1;
      void this.#transferAsAsked(number);
    });
    return 'begun';
  }

  /** The caller, who waits, need not speak meanwhile; and an agent that knows nothing of it must not hang up on silence. */
  async #transferAsAsked(number: string): Promise<void> {
    const { party } = this.#options;
    party()?.handingOver(true);
    try {
      await this.#transfer(number, '');
    } catch (error) {
      this.#notTransferred(error);
    } finally {
      party()?.handingOver(false);
    }
  }

  async #transfer(
    number: string,
    summary: string,
    announcement?: () => AsyncIterable<Int16Array>,
  ): Promise<void> {
    const { parts, leg, call, timeline } = this.#options;
    if (parts.isOwnNumber(number)) {
      throw new Error('Cannot hand the call over: the number rings here, which would be a loop');
    }
    this.#transfers += 1;
    try {
      await leg.transfer(number, announcement && { announcement });
    } finally {
      this.#transfers -= 1;
    }
    const bridge = {
      bridgedTo: number,
      bridgedAt: parts.clock.now(),
      qualificationSummary: summary,
      // Whether by REFER or joined by us, the two parties speak without the agent.
      agentRole: 'left' as const,
    };
    this.#save(callBridgedEvent(call(), bridge, this.#stamp()));
    timeline.add('transfer');
  }

  /** Whoever asked was told that it begins, so the record has to say that it came to nothing. */
  #notTransferred(error: unknown): void {
    const { log, timeline } = this.#options;
    log.warn({ err: error }, 'call was not handed over');
    const reason = error instanceof Error ? error.message : String(error);
    timeline.add('transfer_failed', { reason });
  }

  #book(facts: Omit<Appointment, 'id'>): void {
    const { parts, call } = this.#options;
    const appointment = { id: parts.newId('appt'), ...facts };
    this.#save(appointmentBookedEvent(call(), appointment, this.#stamp()));
  }

  /** To the call as it is kept: by the time a late event comes, more may be known of it than here. */
  #save(event: ServiceEvent): void {
    const { journal, parts, call } = this.#options;
    journal.write(() => {
      const kept = parts.calls.findById(call().id);
      if (kept !== undefined) parts.calls.update(kept, [event]);
    });
  }

  #stamp() {
    const { newId, clock } = this.#options.parts;
    return { id: newId('evt'), now: clock.now() };
  }
}
