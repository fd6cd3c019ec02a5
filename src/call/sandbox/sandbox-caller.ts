/** Starts the sandbox's simulated inbound calls from the queue. */
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import { moveCall } from '../../domain/call/call-life.ts';
import { type SandboxScenario, scenarioNamed } from '../../domain/sandbox-scenario.ts';
import type { Clock } from '../../lib/clock.ts';
import { Repeater } from '../../lib/repeater.ts';
import type { IncomingCall } from '../../telephony/carrier.ts';
import type { CallRegistry } from '../call-registry.ts';
import { answerAndHold } from '../inbound-router.ts';
import type { CallParts } from '../session/call-parts.ts';
import { failureBecause } from '../session/end-reason.ts';
import { endUnanswered } from '../session/hold-call.ts';

/** How long to wait for the database before looking again. */
const LOOK_AGAIN_MS = 1000;

interface SandboxCallerOptions {
  /** Lets a party ring. */
  readonly ringIn: (request: {
    readonly from: string;
    readonly to: string;
    readonly scenario: SandboxScenario;
  }) => IncomingCall;
  /** Asked once for each call, when it begins to ring: simulated time is each call's own. */
  readonly parts: () => CallParts;
  /** Its limit covers outgoing calls too. */
  readonly registry: CallRegistry;
  readonly findAgent: (scope: Scope, agentId: string) => Promise<Agent | undefined>;
  readonly calls: CallParts['calls'];
  readonly clock: Clock;
  readonly log: CallParts['log'];
}

/** A call leaves the queue before it rings, so that a crash never makes it ring twice; the queue survives a restart. */
export class SandboxCaller {
  readonly #options: SandboxCallerOptions;
  readonly #looks: Repeater;
  #unlisten: (() => void)[] = [];

  constructor(options: SandboxCallerOptions) {
    this.#options = options;
    this.#looks = new Repeater({ clock: options.clock, run: () => this.#look() });
  }

  /** Starts to run queued calls, present and future ones. */
  start(): void {
    if (this.#unlisten.length > 0) return;
    const { calls, registry } = this.#options;
    this.#unlisten = [
      calls.queueNotifier.listen(() => this.#looks.ask()),
      registry.freed.listen(() => this.#looks.ask()),
    ];
    this.#looks.ask();
  }

  /** Starts no more calls; running calls are ended through the registry. Safe to call twice. */
  async stop(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten();
    this.#unlisten = [];
    await this.#looks.stop();
  }

  /** Never rejects. @returns when to look again, in milliseconds. */
  async #look(): Promise<number | undefined> {
    const { calls, log, registry } = this.#options;
    try {
      const waiting = registry.isFull ? [] : await calls.queued('test', 'inbound', registry.free);
      for (const call of waiting) await this.#take(call);
      return;
    } catch (error) {
      log.error({ err: error }, 'sandbox: waiting calls could not be taken up, will retry');
      return LOOK_AGAIN_MS;
    }
  }

  /** @throws {StoreError} when the database refuses; then the call waits on. */
  async #take(call: Call): Promise<void> {
    const { findAgent, log, registry } = this.#options;
    const parts = this.#options.parts();
    const agent = await findAgent(call, call.agentId);
    const startedAt = parts.clock.now();
    const change = await parts.calls.change(call.id, (kept) =>
      kept.status === 'queued'
        ? { call: moveCall(kept, 'ringing', { startedAt }), events: [] }
        : undefined,
    );
    if (change === undefined) return;
    const moved = change.call;
    const isThere = agent !== undefined && agent.status === 'active';
    const ringing = isThere
      ? answerAndHold({ agent, parts, registry, ...this.#ring(moved) })
      : endUnanswered(parts, moved, {
          reason: 'error',
          failure: failureBecause('The agent was deleted or paused meanwhile.'),
        });
    ringing.catch((error: unknown) => {
      log.error({ callId: call.id, err: error }, 'sandbox: an incoming call broke');
    });
  }

  #ring(moved: Call) {
    const { from, to, scenario } = moved;
    const party = scenarioNamed(scenario ?? '') ?? 'friendly';
    const incoming = this.#options.ringIn({ from, to, scenario: party });
    return { incoming, call: { ...moved, carrierCallSid: incoming.carrierCallSid } };
  }
}
