/** Takes incoming calls, of the operator's telephones too: answers for the agent that is called, or refuses with a SIP status. */
import type { Agent } from '../domain/agent/agent.ts';
import type { Call } from '../domain/call/call.ts';
import { ringing } from '../domain/call/call-life.ts';
import { StoreError } from '../domain/service-error.ts';
import type { Clock } from '../lib/clock.ts';
import { CarrierError, type IncomingCall, type Leg } from '../telephony/carrier.ts';
import type { CallRegistry } from './call-registry.ts';
import type { CallParts } from './session/call-parts.ts';
import { CALLER_GAVE_UP, failureOf } from './session/end-reason.ts';
import { endUnanswered, type Held, holdCall } from './session/hold-call.ts';

/** Retry-After of a refused call: about the length of a typical call. */
const RETRY_AFTER_SECONDS = 30;

/** Most that a call rings for a locked database, in milliseconds: a backup or an admin command holds it for less, and carriers wait longer. */
const LOCKED_MS_MAX = 5000;

/** Time between two tries to save a call, in milliseconds. */
const SAVE_AGAIN_MS = 250;

/** SIP response that refuses an incoming call: status, and Retry-After in seconds. */
export interface Refusal {
  readonly sipStatus: number;
  readonly retryAfterSeconds?: number;
}

/** Why a call to `agent` is refused; undefined when it is taken. */
export function refusalOf(agent: Agent | undefined, isFull: boolean): Refusal | undefined {
  if (agent === undefined) return { sipStatus: 404 };
  if (agent.status === 'paused') return { sipStatus: 480 };
  if (isFull) return { sipStatus: 503, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return undefined;
}

/** E.164 without its plus sign, as some carriers send the called number. */
const BARE_DIGITS = /^[1-9]\d{6,14}$/;

/**
 * The agent that has the called number. Bare digits are taken for E.164 only where some agent has exactly that number:
 * a national number that looks alike matches no agent.
 */
export async function agentOf(
  calledNumber: string,
  findAgent: (number: string) => Promise<Agent | undefined>,
): Promise<Agent | undefined> {
  const agent = await findAgent(calledNumber);
  if (agent !== undefined || !BARE_DIGITS.test(calledNumber)) return agent;
  return findAgent(`+${calledNumber}`);
}

interface RouterOptions {
  readonly parts: CallParts;
  readonly registry: CallRegistry;
  readonly findAgent: (calledNumber: string) => Promise<Agent | undefined>;
  /** The agent that answers a telephone of ours; default: as for a carrier's call. */
  readonly findAgentOfPhone?: (
    phone: NonNullable<IncomingCall['phone']>,
    called: Agent | undefined,
  ) => Promise<Agent | undefined>;
  /** Called when a call is refused because the registry is full. */
  readonly onFull?: () => void;
}

/** Takes ringing calls and turns them into sessions. */
export class InboundRouter {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /**
   * Answers or refuses. Never rejects: on any error the caller gets a SIP status or a BYE.
   *
   * @param findAgent tells who answers, where it is known by more than the called number.
   */
  async take(
    incoming: IncomingCall,
    findAgent: () => Promise<Agent | undefined> = () => this.#agentOf(incoming),
  ): Promise<void> {
    try {
      const agent = await findAgent();
      const refusal = refusalOf(agent, this.#options.registry.isFull);
      if (agent === undefined || refusal !== undefined) {
        if (refusal?.sipStatus === 503) this.#options.onFull?.();
        return this.#refuse(incoming, refusal ?? { sipStatus: 404 });
      }
      await this.#connect(incoming, agent);
    } catch (error) {
      this.#options.parts.log.error(
        { err: error },
        'incoming call refused: the server could not take it',
      );
      this.#refuse(incoming, { sipStatus: 503, retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  }

  async #agentOf({ to, phone }: IncomingCall): Promise<Agent | undefined> {
    const { findAgent, findAgentOfPhone } = this.#options;
    const called = await agentOf(to, findAgent);
    if (phone === undefined || findAgentOfPhone === undefined) return called;
    return findAgentOfPhone(phone, called);
  }

  #refuse(incoming: IncomingCall, refusal: Refusal): void {
    const { sipStatus, retryAfterSeconds } = refusal;
    this.#options.parts.metrics.callRefused(sipStatus);
    this.#options.parts.log.info({ sipStatus }, 'incoming call refused');
    try {
      incoming.reject(sipStatus, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    } catch (error) {
      this.#options.parts.log.error({ err: error, sipStatus }, 'the refusal could not be sent');
    }
  }

  async #connect(incoming: IncomingCall, agent: Agent): Promise<void> {
    const { parts, registry } = this.#options;
    const { calls, clock, newId } = parts;
    const call = ringing({
      id: newId('call'),
      agent,
      direction: 'inbound',
      from: incoming.from,
      to: agent.phoneNumber ?? incoming.to,
      carrierCallSid: incoming.carrierCallSid,
      metadata: incoming.metadata,
      now: clock.now(),
    });
    const save = () => calls.insert(call, []);
    await answerAndHold({ parts, registry, agent, call, incoming, save });
  }
}

/**
 * Answers a call that rings here, and runs it until its end.
 *
 * @param held.save puts the call on record, where it is not yet.
 */
export async function answerAndHold(
  held: Held & { readonly incoming: IncomingCall; readonly save?: () => Promise<void> },
): Promise<void> {
  const { call, incoming, parts, registry, save } = held;
  const refuse = () => incoming.reject(503);
  registry.add({ callId: call.id, hangUp: refuse, end: async () => refuse() });
  try {
    if (save !== undefined) await saveUnlocked(save, parts.clock);
    const leg = await answerOf(incoming, call, parts);
    if (leg !== undefined) await holdCall({ ...held, leg });
  } finally {
    registry.delete(call.id);
  }
}

/**
 * Saves, again and again while another process has the database: the caller hears the line ring meanwhile.
 *
 * @throws {StoreError} after 5 s, or for another reason at once.
 */
async function saveUnlocked(save: () => Promise<void>, clock: Clock): Promise<void> {
  const endMs = clock.nowMs() + LOCKED_MS_MAX;
  for (;;) {
    try {
      await save();
      return;
    } catch (error) {
      const isLocked = error instanceof StoreError && error.reason === 'locked';
      if (!isLocked || clock.nowMs() >= endMs) throw error;
    }
    await new Promise<void>((resolve) => {
      clock.after(SAVE_AGAIN_MS, resolve);
    });
  }
}

/** @returns undefined when the caller gave up; the call is over and on record then. */
async function answerOf(
  incoming: IncomingCall,
  call: Call,
  parts: CallParts,
): Promise<Leg | undefined> {
  let isCancelled = false;
  incoming.onCancelled(() => {
    isCancelled = true;
  });
  try {
    return await incoming.answer({ callId: call.id });
  } catch (error) {
    const isGone = isCancelled || (error instanceof CarrierError && error.sipStatus === 487);
    if (!isGone) logUnanswered(parts, call.id, error);
    const end = isGone
      ? { reason: 'no_answer' as const, failure: CALLER_GAVE_UP }
      : { reason: 'error' as const, failure: failureOf(error) };
    await endUnanswered(parts, call, end);
    return undefined;
  }
}

/** A far end that cannot be talked with has a sentence; a fault of ours has a stack as well. */
function logUnanswered({ log }: CallParts, callId: string, error: unknown): void {
  if (!(error instanceof CarrierError) || error.sipStatus >= 500) {
    log.error({ callId, err: error }, 'incoming call was not answered');
    return;
  }
  const { sipStatus, message: why } = error;
  const isOfSession = sipStatus === 400 || sipStatus === 488;
  const what = isOfSession
    ? 'refused a call for its session description'
    : 'incoming call was not answered';
  log.warn({ callId, sipStatus, why }, what);
}

/**
 * The agent with the called number where it is of the telephone's account, else the telephone's own agent.
 *
 * @param called the agent with the called number, of any account.
 */
export async function agentOfPhone(
  phone: NonNullable<IncomingCall['phone']>,
  called: Agent | undefined,
  stores: {
    readonly firstAccountId: () => Promise<string | undefined>;
    readonly findLive: (accountId: string, agentId: string) => Promise<Agent | undefined>;
  },
): Promise<Agent | undefined> {
  const accountId = phone.account ?? (await stores.firstAccountId());
  if (accountId === undefined) return undefined;
  if (called?.accountId === accountId) return called;
  return phone.agent === undefined ? undefined : stores.findLive(accountId, phone.agent);
}
