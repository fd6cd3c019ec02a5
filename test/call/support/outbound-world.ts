/** A dialer on a real store, with a carrier that does only what the test says. */

import { setImmediate } from 'node:timers/promises';
import {
  OutboundDialer,
  type OutboundDialerOptions,
} from '../../../src/call/outbound/outbound-dialer.ts';
import type { CallParts } from '../../../src/call/session/call-parts.ts';
import type { Agent } from '../../../src/domain/agent/agent.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import type { Leg, OutgoingCall, TrunkRoute } from '../../../src/telephony/carrier.ts';
import { CarrierError } from '../../../src/telephony/carrier.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { AGENT_NUMBER, type CallWorld, openCallWorld } from './call-world.ts';
import { ScriptedLeg } from './scripted-party.ts';

export class ScriptedOutgoing implements OutgoingCall {
  readonly carrierCallSid: string;
  readonly answered: Promise<Leg>;
  readonly #answer = Promise.withResolvers<Leg>();
  /** How often the call was given up. */
  cancels = 0;
  /** Whether CANCEL is answered, with 487. */
  agreesToCancel = true;

  constructor(carrierCallSid: string) {
    this.carrierCallSid = carrierCallSid;
    this.answered = this.#answer.promise;
  }

  onRinging(): void {}

  /** The callee answers. */
  answer(leg = new ScriptedLeg()): ScriptedLeg {
    this.#answer.resolve(leg);
    return leg;
  }

  refuse(sipStatus: number): void {
    this.#answer.reject(new CarrierError('Cannot call', sipStatus, { refusedWith: sipStatus }));
  }

  fail(error: Error): void {
    this.#answer.reject(error);
  }

  cancel(): void {
    this.cancels += 1;
    if (this.agreesToCancel) this.refuse(487);
  }
}

export interface ScriptedCarrier {
  /** What was dialled, in order: the called numbers. */
  readonly dialled: string[];
  readonly outgoing: ScriptedOutgoing[];
  readonly ringingTimeoutsMs: number[];
  /** Lines of each number calls may be from; none for others. */
  lines: Record<string, TrunkRoute>;
  /** Runs when a call is placed; throws what the test wants. */
  onPlace: (to: string) => void;
}

export interface OutboundWorldOptions {
  readonly agent?: Partial<Agent>;
  readonly callsMax?: number;
  readonly dialer?: Partial<OutboundDialerOptions>;
  readonly parts?: Partial<CallParts>;
}

export interface OutboundWorld extends CallWorld {
  readonly carrier: ScriptedCarrier;
  readonly dialer: OutboundDialer;
  /** Saves a queued call, and gives the dialer the time to see it. */
  queue(fields?: Partial<Call>): Promise<string>;
  /** Status and end reason of a call. */
  stateOf(callId: string): Promise<string>;
  eventsOf(callId: string): Promise<string[]>;
}

export function lineOf(trunk: string, fields: Partial<TrunkRoute> = {}): TrunkRoute {
  const lines = { free: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY };
  return { trunk, callsPerSecond: undefined, ...lines, ...fields };
}

/** Lets what has been decided happen. */
export async function settle(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Turns the clock in small steps, so that what happens in between can happen. */
export async function pass(world: CallWorld, ms: number, stepMs = 10): Promise<void> {
  for (let gone = 0; gone < ms; gone += stepMs) {
    world.store.clock.advance(stepMs);
    await settle();
  }
}

/** The called number of the call that was queued as number `index`, counted from 1. */
export const numbered = (index: number) => `+1202555${1000 + index}`;

export async function openOutboundWorld(
  options: OutboundWorldOptions = {},
): Promise<OutboundWorld> {
  const world = await openCallWorld(options);
  const carrier = scriptedCarrier();
  const { store, registry } = world;
  const parts = { ...world.parts, ...options.parts };
  const dialer = new OutboundDialer({
    environment: 'live',
    carrier: {
      routeFor: (from) => carrier.lines[from],
      place: ({ to, ringingTimeoutMs }) => {
        carrier.onPlace(to);
        carrier.ringingTimeoutsMs.push(ringingTimeoutMs);
        carrier.dialled.push(to);
        const outgoing = new ScriptedOutgoing(`sid_${carrier.dialled.length}`);
        carrier.outgoing.push(outgoing);
        return outgoing;
      },
    },
    parts: () => parts,
    registry,
    findAgent: (scope, agentId) => store.agents.find(scope, agentId),
    clock: store.clock,
    log: silentLogger,
    calls: world.parts.calls,
    newId: world.parts.newId,
    callsPerSecond: 1000,
    ...options.dialer,
  });
  // In place: what the world may be told later has to reach its parts.
  return Object.assign(world, { carrier, dialer }, bookOf(world));
}

function bookOf({ store }: CallWorld): Pick<OutboundWorld, 'queue' | 'stateOf' | 'eventsOf'> {
  let queued = 0;
  return {
    queue: async (fields = {}) => {
      queued += 1;
      const id = `call_q${String(queued).padStart(4, '0')}`;
      const waiting = { status: 'queued', startedAt: null, carrierCallSid: null } as const;
      const parties = {
        direction: 'outbound',
        from: AGENT_NUMBER,
        to: `+1202555${1000 + queued}`,
      } as const;
      const createdAt = store.clock.now();
      await store.calls.insert(buildCall({ id, ...waiting, ...parties, createdAt, ...fields }), []);
      await settle();
      return id;
    },
    stateOf: async (callId) => {
      const { status, endReason } = (await store.calls.findById(callId)) ?? {};
      return [status, endReason].filter(Boolean).join(' ');
    },
    eventsOf: async (callId) => (await store.events.listByCall(callId)).map(({ kind }) => kind),
  };
}

function scriptedCarrier(): ScriptedCarrier {
  return {
    dialled: [],
    outgoing: [],
    ringingTimeoutsMs: [],
    lines: { [AGENT_NUMBER]: lineOf('main') },
    onPlace: () => undefined,
  };
}

/** A world in which one call has been dialled. */
export async function dialled(options: OutboundWorldOptions = {}) {
  const world = await openOutboundWorld(options);
  world.dialer.start();
  const callId = await world.queue();
  const [outgoing] = world.carrier.outgoing;
  if (outgoing === undefined) throw new Error('Nothing was dialled');
  return { world, callId, outgoing };
}
