/** Control of a call in progress: blind and warm transfer, three-way call (conference), appointments, and transfers that the far end asks for by REFER. */
import type { CallControl } from '../../conversation/conversation-port.ts';
import type { Account } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { TransferManner } from '../../domain/agent/transfer-rules.ts';
import type { Appointment, Call } from '../../domain/call/call.ts';
import {
  type AgentRole,
  appointmentBookedEvent,
  callBridgedEvent,
} from '../../domain/call/call-events.ts';
import type { TransferStart } from '../../domain/call/live-sound.ts';
import { type DialDecision, decideDial, RINGS_HERE } from '../../domain/dialing/dial-policy.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { IncomingRefer, Leg, ThreeWayCall } from '../../telephony/carrier.ts';
import type { CallJournal } from './call-journal.ts';
import type { CallParts, TalkingParty } from './call-parts.ts';
import type { SessionTimeline } from './session-timeline.ts';
import { type CallTransfers, TRANSFER_REFUSALS } from './transfer-cap.ts';

interface SessionControlOptions {
  readonly parts: Pick<
    CallParts,
    'calls' | 'clock' | 'newId' | 'isOwnNumber' | 'transfers' | 'accountOf'
  >;
  readonly agent: Agent;
  readonly leg: Leg;
  /** Gives the call as it stands. */
  readonly call: () => Call;
  /** The agent's side of the call, once it talks. */
  readonly party: () =>
    | Pick<
        TalkingParty,
        'transferPending' | 'thirdParty' | 'farEndMoved' | 'announcement' | 'acceptance'
      >
    | undefined;
  /** Whether a warm transfer needs the other party's consent. */
  readonly asksAcceptance: boolean;
  /** Whether the caller comes back to the agent when the other party hangs up first. */
  readonly doesReturn: boolean;
  /** Called when the caller and another party talk on without the agent. */
  readonly onAgentLeft: () => void;
  /** Called when the other party has hung up after that, and the caller is alone. */
  readonly onReturn: () => void;
  readonly journal: CallJournal;
  readonly timeline: SessionTimeline;
  readonly log: Logger;
}

/** Announcement to the transfer target, before it hears the caller. */
type Words = () => AsyncIterable<Int16Array>;

const OTHER_LEFT = 'the other party has hung up';

/** How the caller comes back to the agent after one transfer. */
interface Returning {
  /** Whether the other party has hung up. */
  isAlone: boolean;
  /** Called when the other party has hung up; undefined where the call ends then. */
  onAlone?: () => void;
}

/** The control of one call. */
export class SessionControl {
  /** Control that the agent's tools use. */
  readonly ofAgent: CallControl = {
    transfer: async (number, summary, announcement) => {
      this.#countAgents();
      await this.#transfer(number, summary, announcement);
    },
    bringIn: async (number, summary, announcement) => {
      this.#countAgents();
      await this.#bringIn(number, summary, announcement);
    },
    sendDigits: (digits) => this.#options.leg.audio.sendDigits(digits),
    appointmentBooked: (facts) => this.#book(facts),
  };
  readonly #options: SessionControlOptions;
  readonly #attempts: CallTransfers | undefined;
  /** Transfers in progress or about to begin; a leg takes one at a time. */
  #transfers = 0;
  /** The three-way call (conference) while a third party is connected. */
  #threeWay: ThreeWayCall | undefined;
  /** Whether the caller and another party talk on without the agent. */
  #hasAgentLeft = false;

  constructor(options: SessionControlOptions) {
    this.#options = options;
    this.#attempts = options.parts.transfers?.ofCall(options.call().agentId);
    new FarEndTransfers({
      ...options,
      attempts: this.#attempts,
      hasAgentLeft: () => this.#hasAgentLeft,
    }).listen();
  }

  /** Begins a transfer or a three-way call that the customer requested by REST. */
  beginTransfer(number: string, manner: TransferManner): TransferStart {
    if (this.#hasAgentLeft) return 'transferred';
    if (this.#transfers > 0 || this.#threeWay !== undefined) return 'transferring';
    if (this.#attempts?.begin('customer') !== undefined) return 'too-many-today';
    this.#transfers += 1;
    queueMicrotask(() => {
      this.#transfers -= 1;
      void this.#transferAsAsked(number, manner);
    });
    return 'begun';
  }

  /**
   * Ends the agent's part in the call. In a three-way call the other two parties talk on; otherwise, or if that fails,
   * `hangUp` ends the call. Does nothing if the agent has left already.
   */
  end(hangUp: () => void): void {
    const { log } = this.#options;
    if (this.#hasAgentLeft) return;
    if (this.#threeWay === undefined) {
      hangUp();
      return;
    }
    const returning = this.#returning();
    this.#threeWay.leave(returning.onAlone).then(
      () => this.#agentLeft(returning),
      (error: unknown) => {
        log.warn({ err: error }, 'the agent could not leave the call to the others');
        hangUp();
      },
    );
  }

  async #transferAsAsked(number: string, { mode, summary }: TransferManner): Promise<void> {
    const party = this.#options.party();
    const announcement = mode === 'cold' ? undefined : party?.announcement(summary);
    try {
      if (mode === 'three-way') await this.#bringIn(number, summary, announcement);
      else await this.#transfer(number, summary, announcement);
    } catch (error) {
      this.#notTransferred(error);
    }
  }

  async #transfer(number: string, summary: string, announcement?: Words): Promise<void> {
    const { asksAcceptance, leg, party, timeline } = this.#options;
    const isAsked = announcement !== undefined && asksAcceptance;
    const acceptance = isAsked ? party()?.acceptance() : undefined;
    const returning = this.#returning();
    const { onAlone } = returning;
    const outcome = await this.#dial(number, () =>
      leg.transfer(number, {
        ...(announcement && { announcement }),
        ...(acceptance && { acceptance }),
        ...(onAlone && { onAlone }),
      }),
    );
    // Whether by REFER or joined by us, the two parties speak without the agent.
    this.#attempts?.made();
    this.#bridged(number, summary, 'left');
    if (outcome === 'joined') this.#agentLeft(returning);
    else timeline.add('transfer');
  }

  #agentLeft(returning: Returning): void {
    const { onAgentLeft, timeline } = this.#options;
    this.#threeWay = undefined;
    this.#hasAgentLeft = true;
    timeline.add('transfer');
    onAgentLeft();
    if (returning.isAlone) this.#callerIsBack();
  }

  /** Takes the caller back when both have happened, in either order: the agent has left, and the other party has hung up. */
  #returning(): Returning {
    const returning: Returning = { isAlone: false };
    if (!this.#options.doesReturn) return returning;
    returning.onAlone = () => {
      returning.isAlone = true;
      if (this.#hasAgentLeft) this.#callerIsBack();
    };
    return returning;
  }

  #callerIsBack(): void {
    const { onReturn, timeline } = this.#options;
    this.#hasAgentLeft = false;
    this.#attempts?.over();
    timeline.add('bridge_ended', { reason: OTHER_LEFT, isCallerBack: true });
    onReturn();
  }

  async #bringIn(number: string, summary: string, announcement?: Words): Promise<void> {
    const { leg, party, timeline } = this.#options;
    const threeWay = await this.#dial(number, () =>
      leg.bringIn(number, announcement && { announcement }),
    );
    this.#threeWay = threeWay;
    this.#bridged(number, summary, 'participant');
    timeline.add('three_way');
    party()?.thirdParty(true);
    threeWay.onAlone(() => {
      this.#threeWay = undefined;
      timeline.add('three_way_ended', { reason: OTHER_LEFT });
      party()?.thirdParty(false);
    });
  }

  /** @throws {Error} without dialling, when the agent has used its tries or a transfer is under way. */
  #countAgents(): void {
    if (this.#transfers > 0) {
      throw new Error('Cannot transfer the call: a transfer is in progress');
    }
    const refusal = this.#attempts?.begin('agent');
    if (refusal !== undefined)
      throw new Error(`Cannot transfer the call: ${TRANSFER_REFUSALS[refusal]}`);
  }

  /**
   * Calls the third party. Meanwhile the silence timeout is off: the caller waits and need not speak.
   *
   * @throws {Error} when the number rings here.
   */
  async #dial<T>(number: string, reach: () => Promise<T>): Promise<T> {
    const party = this.#options.party();
    this.#transfers += 1;
    party?.transferPending(true);
    try {
      if (await this.#options.parts.isOwnNumber(number)) {
        throw new Error('Cannot transfer the call: the number rings here, which would be a loop');
      }
      return await reach();
    } finally {
      this.#transfers -= 1;
      party?.transferPending(false);
    }
  }

  /** Records that caller and third party hear each other from now on. */
  #bridged(bridgedTo: string, qualificationSummary: string, agentRole: AgentRole): void {
    const { parts, call } = this.#options;
    const bridge = { bridgedTo, bridgedAt: parts.clock.now(), qualificationSummary, agentRole };
    this.#save(callBridgedEvent(call(), bridge, this.#stamp()));
  }

  /** Records a failed transfer: the customer's request was answered before its outcome. */
  #notTransferred(error: unknown): void {
    const { log, timeline } = this.#options;
    log.warn({ err: error }, 'call was not transferred');
    timeline.add('transfer_failed', { reason: messageOf(error) });
  }

  #book(facts: Omit<Appointment, 'id'>): void {
    const { parts, call } = this.#options;
    const appointment = { id: parts.newId('appt'), ...facts };
    this.#save(appointmentBookedEvent(call(), appointment, this.#stamp()));
  }

  /** Saves an event with the call as stored, which may be newer than ours. */
  #save(event: ServiceEvent): void {
    const { journal, parts, call } = this.#options;
    journal.write(() => parts.calls.change(call().id, (kept) => ({ call: kept, events: [event] })));
  }

  #stamp() {
    const { newId, clock } = this.#options.parts;
    return { id: newId('evt'), now: clock.now() };
  }
}

interface FarEndTransfersOptions {
  readonly parts: Pick<CallParts, 'isOwnNumber' | 'accountOf'>;
  readonly agent: Agent;
  readonly leg: Leg;
  /** Undefined without limits. */
  readonly attempts: CallTransfers | undefined;
  readonly party: () => Pick<TalkingParty, 'transferPending' | 'farEndMoved'> | undefined;
  /** Whether the caller and another party talk on without the agent. */
  readonly hasAgentLeft: () => boolean;
  readonly timeline: Pick<SessionTimeline, 'add'>;
  readonly log: Logger;
}

/** Reasons that the far end is given; they do not mention agents. */
const REFUSALS = { ...TRANSFER_REFUSALS, 'too-many-today': 'the transfers of the day are used up' };

/** Decides about each REFER of one call. */
export class FarEndTransfers {
  readonly #options: FarEndTransfersOptions;

  constructor(options: FarEndTransfersOptions) {
    this.#options = options;
  }

  /** Sets the listeners of the leg. Once. */
  listen(): void {
    const { leg, party, timeline, log } = this.#options;
    leg.onRefer?.((refer) => void this.#decide(refer));
    leg.onMoved?.((method) => {
      timeline.add('far_end_transfer', { method });
      log.info({ method }, 'the far end moved the call to another party');
      party()?.farEndMoved();
    });
  }

  /** Never rejects. */
  async #decide(refer: IncomingRefer): Promise<void> {
    try {
      const refusal = await this.#refusalOf(refer.number);
      if (refusal === undefined) await this.#follow(refer);
      else refer.refuse(refusal.sipStatus, refusal.why);
    } catch (error) {
      const { log, timeline } = this.#options;
      log.warn({ err: error }, 'the transfer by the far end failed');
      timeline.add('far_end_transfer_failed', { reason: messageOf(error) });
      refer.refuse(500, 'the server could not decide about it');
    }
  }

  async #refusalOf(
    number: string,
  ): Promise<{ readonly sipStatus: number; readonly why: string } | undefined> {
    const { agent, attempts, hasAgentLeft, parts, timeline } = this.#options;
    if (hasAgentLeft()) return { sipStatus: 491, why: REFUSALS.made };
    // Counted before the policy, so that no call gets more than a few answers out of it.
    const cap = attempts?.begin('far-end');
    if (cap !== undefined) return { sipStatus: 603, why: REFUSALS[cap] };
    const decision = decideRefer(number, agent, await parts.accountOf(agent));
    const isAllowed = decision.isAllowed && !(await parts.isOwnNumber(decision.number));
    if (isAllowed) return undefined;
    const why = decision.isAllowed ? RINGS_HERE : decision.reason;
    timeline.add('far_end_transfer_failed', { reason: why });
    return { sipStatus: 403, why };
  }

  /** Meanwhile the silence timeout is off: the far end waits, or has left. */
  async #follow(refer: IncomingRefer): Promise<void> {
    const { party } = this.#options;
    party()?.transferPending(true);
    try {
      await refer.follow();
    } finally {
      party()?.transferPending(false);
    }
  }
}

/**
 * Whether the number of a REFER may be called: as the agent's own transfers, but no list need name it.
 *
 * Without allowed countries it must be in the country of the agent's number; without both it is refused.
 */
export function decideRefer(
  number: string,
  agent: Pick<Agent, 'phoneNumber'>,
  account: Pick<Account, 'allowedCountries'> | undefined,
): DialDecision {
  return decideDial(number, {
    allowedCountries: account?.allowedCountries ?? undefined,
    homeNumber: agent.phoneNumber,
    isOwnNumber: (own) => own === agent.phoneNumber,
  });
}
