/** Outbound calls: validation of requests and their SIP headers, the queue, and its estimated start times; pure */
import type { Account, Environment, Plan } from '../account/account.ts';
import type { Agent } from '../agent/agent.ts';
import type { Call, CallOverrides } from '../call/call.ts';
import { callEndedEvent } from '../call/call-events.ts';
import { endCall, newCall } from '../call/call-life.ts';
import { given, type Unset } from '../ids.ts';
import { conflict, ServiceError, unprocessable } from '../service-error.ts';
import type { ServiceEvent } from '../webhook/service-event.ts';
import type { CallingHours } from './calling-hours.ts';
import { type DialRules, decideDial, isShortNumber, RINGS_HERE } from './dial-policy.ts';
import { dialWindow, type WindowDraft } from './dial-window.ts';
import { notOwn, type OwnerOf } from './number-owner.ts';
import { cannotUse, parsePhoneNumber } from './phone-number.ts';

/** Limits of `metadata` in POST /api/calls/outbound. */
export const OUTBOUND_LIMITS = {
  metadataKeysMax: 50,
  metadataBytesMax: 16_384,
  /** Lists and objects in each other, `metadata` itself included. */
  metadataDepthMax: 8,
} as const;

/** Why a queued call failed whose agent was paused before it was dialled. */
export const AGENT_PAUSED = 'The agent was paused meanwhile.';

/** An outgoing call as customers ask for it, of the right types and lengths. */
export interface OutboundDraft extends WindowDraft {
  readonly to: string;
  readonly from?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly overrides?: Unset<Omit<CallOverrides, 'sipHeaders'>> | undefined;
  /** SIP headers of the INVITE, which have passed `faultsOfSipHeaders`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Facts that a request for an outbound call is checked against. */
export interface OutboundFacts {
  readonly id: string;
  readonly now: Date;
  readonly agent: Agent;
  readonly account: Account;
  readonly hasTrunkFor: (from: string) => boolean;
  /** Account id of a number's owner; undefined where it belongs to no account. */
  readonly ownerOf: OwnerOf;
  /** The live agent with a number, of any account. */
  readonly holderOf: (number: string) => Promise<Agent | undefined>;
}

/** @throws {ServiceError} FORBIDDEN when the operator has turned outgoing calls off for the account's plan. */
export function requireOutbound(account: Account, plansWithout: readonly Plan[]): void {
  if (!plansWithout.includes(account.plan)) return;
  throw new ServiceError(
    'FORBIDDEN',
    `Cannot start outbound calls: the plan "${account.plan}" does not have them`,
  );
}

/**
 * Makes the record of a call that waits to be dialled.
 *
 * @throws {ServiceError} CONFLICT when the agent is paused, UNPROCESSABLE when a number may not be used, VALIDATION_ERROR when
 * its window is wrong.
 */
export async function queueCall(draft: OutboundDraft, facts: OutboundFacts): Promise<Call> {
  const { id, now, agent } = facts;
  if (agent.status === 'paused') {
    throw conflict('Cannot start the call: the agent is paused');
  }
  const from = await callingNumber(draft, facts);
  const to = await calledNumber(draft.to, from, facts);
  return newCall(agent, {
    id,
    now,
    direction: 'outbound',
    from,
    to,
    ...dialWindow(draft, {
      to,
      now,
      callingHours: callingHoursOf(agent.environment, facts.account),
    }),
    metadata: draft.metadata ?? {},
    overrides: given({ ...draft.overrides, sipHeaders: draft.headers }),
  });
}

/** The hours that apply to an account's calls: none in the sandbox, where no person is rung. */
export function callingHoursOf(
  environment: Environment,
  account: Pick<Account, 'callingHours'>,
): CallingHours | null {
  return environment === 'live' ? account.callingHours : null;
}

/**
 * Ends a queued call that a customer hung up before it was dialled; its end reason is `no_answer`.
 *
 * @returns the call and its `call.ended`, to be saved together.
 */
export function abandonQueued(
  call: Call,
  { now, eventId }: { readonly now: Date; readonly eventId: string },
): { readonly call: Call; readonly events: readonly ServiceEvent[] } {
  const { failureReason: whyItWaited } = call;
  const hungUp = 'The call was hung up before it was dialled.';
  const reason = whyItWaited === null ? hungUp : `${hungUp} ${whyItWaited}`;
  const failure = { reason, sipStatus: null };
  const over = endCall(call, { endReason: 'no_answer', endedAt: now, failure });
  return { call: over, events: [callEndedEvent(over, { id: eventId, now })] };
}

/**
 * The number that a call of the agent is from.
 *
 * @throws {ServiceError} UNPROCESSABLE when there is none, or it may not be used.
 */
export async function callingNumber(
  draft: Pick<OutboundDraft, 'from'>,
  facts: Pick<OutboundFacts, 'agent' | 'hasTrunkFor' | 'ownerOf' | 'holderOf'>,
): Promise<string> {
  const { agent, hasTrunkFor } = facts;
  const isLive = agent.environment === 'live';
  const text = draft.from ?? agent.phoneNumber;
  if (text === null) {
    throw unusable('Cannot start the call: from is missing, and the agent has no phoneNumber');
  }
  if (isShortNumber(text)) {
    throw unusable(
      `${cannotUse('from', text)}: an emergency or short number cannot be a calling number`,
    );
  }
  const from = parsePhoneNumber(text, 'from');
  if (!isLive) return from;
  // The agent itself holds its number: one number has one live agent.
  const holder = from === agent.phoneNumber ? agent : await facts.holderOf(from);
  const users = [await facts.ownerOf(from), holder?.accountId];
  if (users.some((user) => user !== undefined && user !== agent.accountId)) {
    throw notOwn('from', from);
  }
  if (!hasTrunkFor(from)) throw unusable(`${cannotUse('from', from)}: no trunk has this number`);
  return from;
}

async function calledNumber(text: string, from: string, facts: OutboundFacts): Promise<string> {
  const { account, agent, holderOf } = facts;
  const rules: DialRules = {
    allowedCountries: account.allowedCountries ?? undefined,
    homeNumber: from,
    isOwnNumber: (number) => number === agent.phoneNumber,
    isSimulated: agent.environment === 'test',
    mayBeUnassigned: true,
  };
  const decision = decideDial(text, rules);
  if (!decision.isAllowed) throw unusable(`${cannotUse('to', text)}: ${decision.reason}`);
  if ((await holderOf(decision.number)) !== undefined) {
    throw unusable(`${cannotUse('to', text)}: ${RINGS_HERE}`);
  }
  return decision.number;
}

function unusable(message: string): ServiceError {
  return unprocessable(message);
}

/** More calls than this may not wait in one environment. */
export const QUEUED_CALLS_MAX = 1000;

/** The queue of outbound calls of one environment, as the REST interface sees it. */
export interface DialQueue {
  /** True while the server drains: queued calls are no longer dialled. */
  readonly isDraining: boolean;

  /** Whether some trunk may call from this number. */
  hasTrunkFor(from: string): boolean;

  /** When a call from this number would be dialled if it joined the queue now. */
  estimatedStart(from: string): Promise<Date>;
}

/** Load of the trunk (or trunks) that an outbound call would take. */
export interface WayOut {
  /** Calls queued for the same trunk. */
  readonly callsAhead: number;
  /** The next call may not be dialled before; in milliseconds since 1970, may lie in the past. */
  readonly nextDialAtMs: number;
  readonly callsPerSecond: number;
  readonly linesFree: number;
  /** Free and busy ones together. */
  readonly linesTotal: number;
  /** Mean time that a call holds its line, from dialling to its end. */
  readonly lineHeldMs: number;
}

/**
 * Estimated start of the next call to join the queue: after the queued calls, at the trunk's pace, once a line is free.
 * Lines in use are assumed to become free evenly over the time that a call holds one.
 *
 * @returns milliseconds since 1970, never before `nowMs`.
 */
export function estimatedStartMs(way: WayOut, nowMs: number): number {
  const pacedMs = Math.max(nowMs, way.nextDialAtMs) + (way.callsAhead * 1000) / way.callsPerSecond;
  const linesToWaitFor = way.callsAhead + 1 - way.linesFree;
  if (linesToWaitFor <= 0) return pacedMs;
  const lineFreeMs = nowMs + (linesToWaitFor * way.lineHeldMs) / Math.max(1, way.linesTotal);
  return Math.max(pacedMs, lineFreeMs);
}

/** Limits of `headers` in POST /api/calls/outbound. */
export const SIP_HEADER_LIMITS = {
  headersMax: 10,
  nameCharsMax: 64,
  valueCharsMax: 255,
} as const;

/** X- and a token, or User-to-User: no header that routes, names or authenticates a call. RFC 3261, 25.1 and RFC 7433. */
export const SIP_HEADER_NAME = "^([Xx]-[A-Za-z0-9\\-.!%*_+`'~]{1,62}|[Uu]ser-[Tt]o-[Uu]ser)$";

/** Visible ASCII, with spaces inside: no line break, which would begin another header. */
export const SIP_HEADER_VALUE = '^[!-~]([ -~]*[!-~])?$';

/** A wrong header: its name as it was given, empty for all of them together, and the expected form. */
interface SipHeaderFault {
  readonly name: string;
  readonly message: string;
}

const NAME = new RegExp(SIP_HEADER_NAME);
const VALUE = new RegExp(SIP_HEADER_VALUE);

/** All faults of the headers of one call; empty where they can be sent. */
export function faultsOfSipHeaders(headers: Readonly<Record<string, unknown>>): SipHeaderFault[] {
  const { headersMax, valueCharsMax } = SIP_HEADER_LIMITS;
  const entries = Object.entries(headers);
  if (entries.length > headersMax) {
    return [{ name: '', message: `expected ${headersMax} headers at most` }];
  }
  const names = entries.map(([name]) => name.toLowerCase());
  return entries.flatMap(([name, value], index) => {
    if (!NAME.test(name)) return { name, message: 'expected X- and a token, or User-to-User' };
    if (names.indexOf(name.toLowerCase()) < index) {
      return { name, message: 'expected each name once, in upper or lower case' };
    }
    const isText = typeof value === 'string' && value.length <= valueCharsMax && VALUE.test(value);
    return isText
      ? []
      : {
          name,
          message: `expected 1 to ${valueCharsMax} characters of visible ASCII, without a space at either end`,
        };
  });
}
