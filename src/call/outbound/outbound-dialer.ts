/** Dials the queued calls of one environment: in order, at each trunk's pace, as channels become free. */
import type { Environment } from '../../domain/account/account.ts';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { Call, CallStore } from '../../domain/call/call.ts';
import { dialling, ended } from '../../domain/call/call-life.ts';
import {
  AGENT_PAUSED,
  type DialQueue,
  estimatedStartMs,
} from '../../domain/dialing/outbound-rules.ts';
import type { NewId } from '../../domain/ids.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import type { TrunkRoute } from '../../telephony/carrier.ts';
import type { CallRegistry } from '../call-registry.ts';
import type { CallParts } from '../session/call-parts.ts';
import { failureBecause } from '../session/end-reason.ts';
import { endedEntry } from '../session/session-timeline.ts';
import { OutboundCall } from './outbound-call.ts';
import {
  type DialCarrier,
  type DialHolds,
  DialLines,
  dialHolds,
  type HoursOf,
  OutboundQueue,
  type WaitingCall,
} from './outbound-queue.ts';

const RINGING_TIMEOUT_MS = 60_000;

/** How long to wait for a line, or for the database, before looking again; lines that calls leave ring earlier. */
const LOOK_AGAIN_MS = 1000;

/** Records of undialled calls that one look may write: each takes the thread that holds the conversations. */
const WRITES_MAX = 20;

/** Reason for a call's wait while as many calls are in progress as `MAX_CALLS` allows. */
const SERVER_FULL = 'The server has as many calls in progress as it takes.';

/** Constructor parameters of `OutboundDialer`. */
export interface OutboundDialerOptions {
  readonly environment: Environment;
  readonly carrier: DialCarrier;
  /** Asked for each call when it is dialled, or ended undialled. */
  readonly parts: () => CallParts;
  /** Its limit covers incoming calls too. */
  readonly registry: CallRegistry;
  readonly findAgent: (scope: Scope, agentId: string) => Promise<Agent | undefined>;
  /** Null for every account when not given. */
  readonly hoursOf?: HoursOf;
  readonly callsPerSecond?: number;
  readonly ringingTimeoutMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly calls: Pick<
    CallStore,
    'queueNotifier' | 'waitingToDial' | 'countQueued' | 'findById' | 'change' | 'addTimelineEntry'
  >;
  readonly newId: NewId;
}

/**
 * Dials queued calls. A call is recorded as ringing before it is dialled, so that a crash never makes it dial twice; the
 * queue survives a restart.
 */
export class OutboundDialer implements DialQueue {
  readonly #options: OutboundDialerOptions;
  readonly #queue: OutboundQueue;
  readonly #lines: DialLines;
  /** Routes by calling number, looked up at most once until a call is dialled or the pass ends. */
  readonly #routes = new Map<string, TrunkRoute | undefined>();
  readonly #looks: Repeater;
  #unlisten: (() => void)[] = [];
  #isDraining = false;
  /** Calls held back, with the reasons, as of the newest look. */
  #holds: DialHolds = new Map();

  constructor(options: OutboundDialerOptions) {
    this.#options = options;
    const { environment, calls, carrier, callsPerSecond, clock } = options;
    this.#lines = new DialLines({ carrier, callsPerSecond, clock });
    this.#queue = new OutboundQueue({
      load: (limit) => calls.waitingToDial(environment, limit),
      trunkOf: (from) => this.#routeFor(from)?.trunk,
      clock,
    });
    this.#looks = new Repeater({ clock, run: () => this.#look() });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Starts to dial queued calls, present and future ones. */
  start(): void {
    if (this.#unlisten.length > 0 || this.#isDraining) return;
    const { calls, registry } = this.#options;
    this.#unlisten = [
      calls.queueNotifier.listen(() => {
        this.#queue.hasMore();
        this.#looks.ask();
      }),
      registry.freed.listen(() => this.#looks.ask()),
    ];
    this.#queue.hasMore();
    this.#looks.ask();
  }

  /** Dials no more calls; ringing and answered calls continue, and queued calls stay in the queue for the next start. */
  drain(): void {
    this.#isDraining = true;
    void this.#looks.stop();
    for (const unlisten of this.#unlisten) unlisten();
    this.#unlisten = [];
  }

  /** Calls `drain`, and waits for the pass in progress; the calls themselves are ended through the registry. Safe to call twice. */
  async stop(): Promise<void> {
    this.drain();
    await this.#looks.stop();
  }

  hasTrunkFor(from: string): boolean {
    return this.#lines.routeFor(from) !== undefined;
  }

  async estimatedStart(from: string): Promise<Date> {
    const { environment, calls, clock, registry } = this.#options;
    const route = this.#lines.routeFor(from);
    if (route === undefined) return clock.now();
    const way = this.#lines.loadOf(route);
    const queued = await calls.countQueued(environment, 'outbound');
    const callsAhead = this.#queue.aheadOn(route.trunk, queued, this.#holds);
    const linesFree = Math.min(way.linesFree, registry.free);
    const linesTotal = Math.min(way.linesTotal, registry.callsMax);
    const startMs = estimatedStartMs({ ...way, callsAhead, linesFree, linesTotal }, clock.nowMs());
    return new Date(Math.ceil(startMs));
  }

  /** Dials every call that is due. Never rejects. @returns when to look again, in milliseconds. */
  async #look(): Promise<number | undefined> {
    try {
      return await this.#dialWhatMay();
    } catch (error) {
      this.#options.log.error({ err: error }, 'queued calls could not be dialled, will retry');
      return LOOK_AGAIN_MS;
    } finally {
      this.#routes.clear();
    }
  }

  #routeFor(from: string): TrunkRoute | undefined {
    if (!this.#routes.has(from)) this.#routes.set(from, this.#lines.routeFor(from));
    return this.#routes.get(from);
  }

  /** @returns when to look again, in milliseconds; undefined when the queue is empty. */
  async #dialWhatMay(): Promise<number | undefined> {
    const { clock, registry } = this.#options;
    await this.#queue.refresh();
    await this.#findHolds(clock.now());
    let delayMs = LOOK_AGAIN_MS;
    let writes = await this.#tellReasons(clock.now());
    const blocked = new Set<string>();
    for (const waiting of this.#queue.waiting()) {
      if (registry.isFull || this.#isDraining) break;
      if (writes >= WRITES_MAX) return 1;
      if (this.#isPassedBy(waiting, blocked)) continue;
      const route = this.#routeFor(waiting.from);
      const waitMs = this.#lines.waitMs(route);
      if (waitMs === 0) writes += Number(!(await this.#take(waiting, route, clock.now())));
      else if (waiting.trunk !== undefined) blocked.add(waiting.trunk);
      delayMs = Math.min(delayMs, waitMs || delayMs);
    }
    return this.#queue.isEmpty ? undefined : delayMs;
  }

  /** Each trunk keeps its order; calls of other trunks, and after one that is not due, go first. */
  #isPassedBy({ callId, trunk }: WaitingCall, blocked: ReadonlySet<string>): boolean {
    return this.#holds.has(callId) || (trunk !== undefined && blocked.has(trunk));
  }

  async #findHolds(now: Date): Promise<void> {
    const { hoursOf = async () => null } = this.#options;
    this.#holds = await dialHolds(this.#queue.waiting(), { now, hoursOf });
  }

  /**
   * Ends the calls that have waited for too long, and records why the others wait.
   *
   * @returns how many records were written.
   * @throws {StoreError} when the database refuses.
   */
  async #tellReasons(now: Date): Promise<number> {
    const nowMs = this.#options.clock.nowMs();
    let writes = 0;
    for (const waiting of this.#queue.waiting()) {
      if (writes >= WRITES_MAX) break;
      const problem = this.#holds.get(waiting.callId) ?? this.#problemOf(waiting);
      if (hasExpired(waiting, now, nowMs)) writes += await this.#expire(waiting, problem, now);
      else if (problem !== waiting.failureReason)
        writes += await this.#keepReason(waiting, problem);
    }
    return writes;
  }

  /** Reason for the wait of a call whose time to be dialled has come; null for its turn and the pace. */
  #problemOf({ from, failureReason }: WaitingCall): string | null {
    const { registry } = this.#options;
    const route = this.#routeFor(from);
    const problem = this.#lines.problemOf(route);
    if (problem !== undefined) return problem;
    const allInUse = this.#lines.allInUse(route);
    if (registry.isFull) return SERVER_FULL;
    if (route?.free === 0) return allInUse ?? null;
    // Lines come and go from one second to the next: the record stays as it is until the call is dialled.
    const isOfLines = failureReason === allInUse || failureReason === SERVER_FULL;
    return isOfLines ? failureReason : null;
  }

  async #expire(waiting: WaitingCall, problem: string | null, now: Date): Promise<number> {
    this.#queue.delete(waiting);
    const why = problem ?? 'No line was free.';
    await this.#giveUp(waiting, `It was not dialled before it expired. ${why}`, now);
    return 1;
  }

  async #keepReason(waiting: WaitingCall, failureReason: string | null): Promise<number> {
    const { calls } = this.#options;
    const change = await calls.change(waiting.callId, (call) =>
      call.status === 'queued' ? { call: { ...call, failureReason }, events: [] } : undefined,
    );
    if (change === undefined) return 0;
    this.#queue.replace({ ...waiting, failureReason });
    return 1;
  }

  /**
   * Takes one call out of the queue: dials it, or ends it where that cannot be done.
   *
   * @returns whether it was dialled.
   * @throws {StoreError} when the database refuses; then the call waits on.
   */
  async #take(waiting: WaitingCall, route: TrunkRoute | undefined, now: Date): Promise<boolean> {
    const { calls, findAgent, log } = this.#options;
    let isDialled = false;
    try {
      const call = await calls.findById(waiting.callId);
      // A customer may have hung up the call while it waited.
      if (call?.status === 'queued') {
        const agent = await findAgent(call, call.agentId);
        const problem = problemOf(agent, waiting.trunk);
        if (agent === undefined || problem !== undefined)
          await this.#giveUp(waiting, problem ?? '', now);
        else isDialled = await this.#dial(call, agent, route);
      }
    } catch (error) {
      if (error instanceof StoreError) throw error;
      log.error({ callId: waiting.callId, err: error }, 'queued call could not be dialled');
      await this.#giveUpBroken(waiting, now);
    }
    this.#queue.delete(waiting);
    return isDialled;
  }

  /** @returns whether it was dialled; if not, it was given up, or hung up meanwhile. */
  async #dial(call: Call, agent: Agent, route: TrunkRoute | undefined): Promise<boolean> {
    const { calls, carrier, clock, log, registry } = this.#options;
    const { ringingTimeoutMs = RINGING_TIMEOUT_MS } = this.#options;
    const parts = this.#options.parts();
    if (await parts.isOwnNumber(call.to)) {
      const why = 'The called number rings here by now, which is a loop.';
      await this.#giveUp({ callId: call.id }, why, clock.now());
      return false;
    }
    const change = await calls.change(call.id, (kept) =>
      kept.status === 'queued'
        ? { call: dialling(kept, parts.clock.now()), events: [] }
        : undefined,
    );
    if (change === undefined) return false;
    const ringing = change.call;
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
  async #giveUp({ callId }: Pick<WaitingCall, 'callId'>, why: string, now: Date): Promise<void> {
    const { calls, log, newId } = this.#options;
    const failure = failureBecause(why);
    const times = { endedAt: now, eventAt: now };
    const change = await calls.change(callId, (call) =>
      // A customer may have hung it up meanwhile.
      call.status === 'queued'
        ? ended(call, { ...times, reason: 'error', failure, eventId: newId('evt') })
        : undefined,
    );
    if (change === undefined) return;
    await calls.addTimelineEntry(callId, endedEntry(change.call));
    this.#options.parts().metrics.callMissed('outbound', 'error');
    log.warn({ callId, agentId: change.call.agentId, why }, 'queued call was not dialled');
  }

  /** Ends the record after an internal error, where that is still possible. */
  async #giveUpBroken(waiting: WaitingCall, now: Date): Promise<void> {
    try {
      await this.#giveUp(waiting, 'The server failed.', now);
    } catch (error) {
      const { callId } = waiting;
      this.#options.log.error({ callId, err: error }, 'queued call could not be ended');
    }
  }
}

function hasExpired({ expiresAt, expiresAtMs }: WaitingCall, now: Date, nowMs: number): boolean {
  if (expiresAt !== null) return expiresAt <= now;
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/** Why a waiting call can never be dialled; undefined when it can. */
function problemOf(agent: Agent | undefined, trunk: string | undefined): string | undefined {
  if (agent === undefined) return 'The agent was deleted meanwhile.';
  if (agent.status === 'paused') return AGENT_PAUSED;
  if (trunk === undefined) return 'No trunk has the number that the call is from.';
  return undefined;
}
