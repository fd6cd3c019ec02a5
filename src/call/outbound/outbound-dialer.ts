/** Dials the queued calls of one environment: in order, at each trunk's pace, as channels become free. */
import type { Environment } from '../../domain/account/account.ts';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { Call, CallStore } from '../../domain/call/call.ts';
import { type DialQueue, estimatedStartMs } from '../../domain/dialing/outbound-rules.ts';
import type { NewId } from '../../domain/ids.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TrunkRoute } from '../../telephony/carrier.ts';
import type { CallRegistry } from '../call-registry.ts';
import { dialling, ended } from '../session/call-journal.ts';
import type { CallParts } from '../session/call-parts.ts';
import { failureBecause } from '../session/end-reason.ts';
import { endedEntry } from '../session/session-timeline.ts';
import { type DialCarrier, DialLines } from './dial-lines.ts';
import { OutboundCall } from './outbound-call.ts';
import { OutboundQueue, type WaitingCall } from './outbound-queue.ts';

const RINGING_TIMEOUT_MS = 60_000;

/** How long to wait for a line, or for the database, before looking again; lines that calls leave ring earlier. */
const LOOK_AGAIN_MS = 1000;

/** Records of undialled calls that one look may write: each takes the thread that holds the conversations. */
const WRITES_MAX = 20;

/** Constructor parameters of `OutboundDialer`. */
export interface OutboundDialerOptions {
  readonly environment: Environment;
  readonly carrier: DialCarrier;
  /** Asked for each call when it is dialled, or ended undialled. */
  readonly parts: () => CallParts;
  /** Its limit covers incoming calls too. */
  readonly registry: CallRegistry;
  readonly findAgent: (scope: Scope, agentId: string) => Agent | undefined;
  readonly callsPerSecond?: number;
  readonly ringingTimeoutMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly calls: Pick<
    CallStore,
    'queueNotifier' | 'waitingToDial' | 'countQueued' | 'findById' | 'update' | 'addTimelineEntry'
  >;
  readonly newId: NewId;
}

/**
 * Takes queued calls and turns them into ringing ones. A call is on record as ringing before anybody is dialled, so that
 * no crash makes it be dialled twice; what waits in the queue survives a restart.
 */
export class OutboundDialer implements DialQueue {
  readonly #options: OutboundDialerOptions;
  readonly #queue: OutboundQueue;
  readonly #lines: DialLines;
  /** Routes by calling number, looked up at most once until a call is dialled or the look ends. */
  readonly #routes = new Map<string, TrunkRoute | undefined>();
  #unlisten: (() => void)[] = [];
  #cancelLook: () => void = () => undefined;
  #isRunning = false;
  #isDraining = false;

  constructor(options: OutboundDialerOptions) {
    this.#options = options;
    const { environment, calls, carrier, callsPerSecond, clock } = options;
    this.#lines = new DialLines({ carrier, callsPerSecond, clock });
    this.#queue = new OutboundQueue({
      load: (limit) => calls.waitingToDial(environment, limit),
      trunkOf: (from) => this.#routeFor(from)?.trunk,
      clock,
    });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Begins to dial what waits already, and what comes. */
  start(): void {
    if (this.#isRunning || this.#isDraining) return;
    this.#isRunning = true;
    const { calls, registry } = this.#options;
    this.#unlisten = [
      calls.queueNotifier.listen(() => {
        this.#queue.hasMore();
        this.#look();
      }),
      registry.freed.listen(() => this.#look()),
    ];
    this.#queue.hasMore();
    this.#look();
  }

  /** Dials nothing more; calls that ring or talk go on, and what waits stays in the queue for the next start. */
  drain(): void {
    this.#isDraining = true;
    this.#isRunning = false;
    this.#cancelLook();
    for (const unlisten of this.#unlisten) unlisten();
    this.#unlisten = [];
  }

  /** As `drain`: the calls themselves are ended through the registry. Safe to call twice. */
  stop(): void {
    this.drain();
  }

  hasTrunkFor(from: string): boolean {
    return this.#lines.routeFor(from) !== undefined;
  }

  estimatedStart(from: string): Date {
    const { environment, calls, clock, registry } = this.#options;
    const route = this.#lines.routeFor(from);
    if (route === undefined) return clock.now();
    const way = this.#lines.loadOf(route);
    const queued = calls.countQueued(environment, 'outbound');
    const callsAhead = this.#queue.aheadOn(route.trunk, queued);
    const linesFree = Math.min(way.linesFree, registry.free);
    const linesTotal = Math.min(way.linesTotal, registry.callsMax);
    const startMs = estimatedStartMs({ ...way, callsAhead, linesFree, linesTotal }, clock.nowMs());
    return new Date(Math.ceil(startMs));
  }

  /** Dials every call that is due and sets the timer for the next. Never throws. */
  #look(): void {
    if (!this.#isRunning) return;
    this.#cancelLook();
    let delayMs: number | undefined;
    try {
      delayMs = this.#dialWhatMay();
    } catch (error) {
      this.#options.log.error({ err: error }, 'queued calls could not be dialled, will retry');
      delayMs = LOOK_AGAIN_MS;
    }
    this.#routes.clear();
    if (delayMs !== undefined) {
      this.#cancelLook = this.#options.clock.after(delayMs, () => this.#look());
    }
  }

  #routeFor(from: string): TrunkRoute | undefined {
    if (!this.#routes.has(from)) this.#routes.set(from, this.#lines.routeFor(from));
    return this.#routes.get(from);
  }

  /** @returns when to look again, in milliseconds; undefined when nothing waits. */
  #dialWhatMay(): number | undefined {
    const { clock, registry } = this.#options;
    this.#queue.refresh();
    let delayMs = LOOK_AGAIN_MS;
    let writes = this.#tellReasons(clock.now());
    const blocked = new Set<string>();
    for (const waiting of this.#queue.waiting()) {
      if (registry.isFull) break;
      if (writes >= WRITES_MAX) return 1;
      // Each trunk keeps its order; the others pass by.
      if (waiting.trunk !== undefined && blocked.has(waiting.trunk)) continue;
      const route = this.#routeFor(waiting.from);
      const waitMs = this.#lines.waitMs(route);
      if (waitMs === 0) writes += Number(!this.#take(waiting, route, clock.now()));
      else if (waiting.trunk !== undefined) blocked.add(waiting.trunk);
      delayMs = Math.min(delayMs, waitMs || delayMs);
    }
    return this.#queue.isEmpty ? undefined : delayMs;
  }

  /**
   * Ends the calls that have waited for too long, and puts on record what keeps the others.
   *
   * @returns how many records were written.
   * @throws {StoreError} when the database refuses.
   */
  #tellReasons(now: Date): number {
    const problems = new Map<string, string | null>();
    const nowMs = this.#options.clock.nowMs();
    let writes = 0;
    for (const waiting of this.#queue.waiting()) {
      if (writes >= WRITES_MAX) break;
      const { from, expiresAtMs } = waiting;
      if (!problems.has(from)) {
        problems.set(from, this.#lines.problemOf(this.#routeFor(from)) ?? null);
      }
      const problem = problems.get(from) ?? null;
      if (expiresAtMs !== null && expiresAtMs <= nowMs)
        writes += this.#expire(waiting, problem, now);
      else if (problem !== waiting.failureReason) writes += this.#keepReason(waiting, problem);
    }
    return writes;
  }

  #expire(waiting: WaitingCall, problem: string | null, now: Date): number {
    const call = this.#options.calls.findById(waiting.callId);
    this.#queue.delete(waiting);
    if (call?.status !== 'queued') return 0;
    const why = problem ?? 'No line was free.';
    this.#giveUp(call, `It was not dialled before it expired. ${why}`, now);
    return 1;
  }

  #keepReason(waiting: WaitingCall, failureReason: string | null): number {
    const { calls } = this.#options;
    const call = calls.findById(waiting.callId);
    if (call?.status !== 'queued') return 0;
    calls.update({ ...call, failureReason }, []);
    this.#queue.replace({ ...waiting, failureReason });
    return 1;
  }

  /**
   * Takes one call out of the queue: dials it, or ends it where that cannot be done.
   *
   * @returns whether it was dialled.
   * @throws {StoreError} when the database refuses; then the call waits on.
   */
  #take(waiting: WaitingCall, route: TrunkRoute | undefined, now: Date): boolean {
    const { calls, findAgent, log } = this.#options;
    let isDialled = false;
    try {
      const call = calls.findById(waiting.callId);
      // A customer may have hung up what was still waiting.
      if (call?.status === 'queued') {
        const agent = findAgent(call, call.agentId);
        const problem = problemOf(agent, waiting.trunk);
        if (agent === undefined || problem !== undefined) this.#giveUp(call, problem ?? '', now);
        else isDialled = this.#dial(call, agent, route);
      }
    } catch (error) {
      if (error instanceof StoreError) throw error;
      log.error({ callId: waiting.callId, err: error }, 'queued call could not be dialled');
      this.#giveUpBroken(waiting, now);
    }
    this.#queue.delete(waiting);
    return isDialled;
  }

  /** @returns whether it was dialled; if not, it was given up. */
  #dial(call: Call, agent: Agent, route: TrunkRoute | undefined): boolean {
    const { calls, carrier, clock, log, registry } = this.#options;
    const { ringingTimeoutMs = RINGING_TIMEOUT_MS } = this.#options;
    const parts = this.#options.parts();
    if (parts.isOwnNumber(call.to)) {
      this.#giveUp(call, 'The called number rings here by now, which is a loop.', clock.now());
      return false;
    }
    const ringing = dialling(call, parts.clock.now());
    calls.update(ringing, []);
    const lineLeft = this.#lines.dialled(route);
    const facts = { carrier, parts, registry, agent, call: ringing, ringingTimeoutMs, clock };
    // The call takes a channel of its trunk: routes found before show too many free.
    this.#routes.clear();
    new OutboundCall(facts).run().then(lineLeft, (error: unknown) => {
      log.error({ callId: call.id, err: error }, 'outgoing call broke');
    });
    return true;
  }

  /** Ends a call that will never be dialled. @param why a sentence. */
  #giveUp(call: Call, why: string, now: Date): void {
    const { calls, log, newId } = this.#options;
    const failure = failureBecause(why);
    const times = { endedAt: now, eventAt: now };
    const change = ended(call, { ...times, reason: 'error', failure, eventId: newId('evt') });
    calls.update(change.call, change.events);
    calls.addTimelineEntry(call.id, endedEntry(change.call));
    this.#options.parts().metrics.callMissed('outbound', 'error');
    log.warn({ callId: call.id, agentId: call.agentId, why }, 'queued call was not dialled');
  }

  /** After a mistake of ours: the record comes to its end all the same, where it still can. */
  #giveUpBroken({ callId }: WaitingCall, now: Date): void {
    const { calls, log } = this.#options;
    try {
      const call = calls.findById(callId);
      if (call?.status === 'queued') this.#giveUp(call, 'The server failed.', now);
    } catch (error) {
      log.error({ callId, err: error }, 'queued call could not be ended');
    }
  }
}

/** Why a waiting call can never be dialled; undefined when it can. */
function problemOf(agent: Agent | undefined, trunk: string | undefined): string | undefined {
  if (agent === undefined) return 'The agent was deleted meanwhile.';
  if (agent.status === 'paused') return 'The agent was paused meanwhile.';
  if (trunk === undefined) return 'No trunk has the number that the call is from.';
  return undefined;
}
