/** The calls of one server on a real store: who rings, who picks up and what the agent does is the test's to say. */
import { CallRegistry } from '../../../src/call/call-registry.ts';
import { InboundRouter } from '../../../src/call/inbound-router.ts';
import type { CallMetrics, CallParts, TalkOptions } from '../../../src/call/session/call-parts.ts';
import { TransferCap } from '../../../src/call/session/transfer-cap.ts';
import type { Agent } from '../../../src/domain/agent/agent.ts';
import type { Call, CallStore } from '../../../src/domain/call/call.ts';
import type { CallPrice } from '../../../src/domain/call/call-cost.ts';
import { StoreError } from '../../../src/domain/service-error.ts';
import { type Logger, silentLogger } from '../../../src/lib/logger.ts';
import { buildAgent } from '../../support/store/build-agent.ts';
import { openTestStore, type TestStore } from '../../support/store/test-store.ts';
import { ScriptedIncoming, ScriptedLeg, ScriptedTalk } from './scripted-party.ts';

export const AGENT_NUMBER = '+15550100001';

/** An answered call with its parties. */
export interface AnsweredCall {
  readonly incoming: ScriptedIncoming;
  readonly leg: ScriptedLeg;
  readonly talk: ScriptedTalk;
  /** Resolves when the call is over and on record. */
  readonly over: Promise<void>;
}

export interface CallWorld {
  readonly store: TestStore;
  readonly registry: CallRegistry;
  readonly router: InboundRouter;
  readonly parts: CallParts;
  /** What was counted, as `name detail …`. */
  readonly counted: readonly string[];
  /** While true, nothing can be written. */
  isDiskFull: boolean;
  /** Makes the talk; throws what the test wants. */
  onTalk: (options: TalkOptions) => ScriptedTalk;
  /** The newest call. */
  call(): Promise<Call>;
  /** Kinds of the newest call's events. */
  events(): Promise<string[]>;
  /** Rings and waits until the agent talks. */
  answered(price?: CallPrice): Promise<AnsweredCall>;
}

interface WorldOptions {
  readonly agent?: Partial<Agent>;
  readonly callsMax?: number;
  /** Why no recording may begin. */
  readonly recordingRefusal?: string;
  /** Whether recordings have sound in the end; unless the disk is full, when not given. */
  readonly hasSound?: boolean;
  readonly log?: Logger;
}

export async function openCallWorld(options: WorldOptions = {}): Promise<CallWorld> {
  const store = await openTestStore();
  await store.agents.insert(buildAgent({ phoneNumber: AGENT_NUMBER, ...options.agent }));
  const registry = new CallRegistry({ callsMax: options.callsMax ?? 10 });
  const counted: string[] = [];
  const parts = partsOf(store, { ...options, counted, world: () => world });
  const world: CallWorld = {
    store,
    registry,
    counted,
    isDiskFull: false,
    onTalk: (given) => new ScriptedTalk(given),
    parts,
    router: new InboundRouter({
      parts,
      registry,
      findAgent: (number) => store.agents.findByPhoneNumber(number),
    }),
    call: () => newestCall(store),
    events: async () =>
      (await store.events.listByCall((await newestCall(store)).id)).map(({ kind }) => kind),
    answered: (price) => answeredCall(world, price),
  };
  return world;
}

async function answeredCall(world: CallWorld, price?: CallPrice): Promise<AnsweredCall> {
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  const leg = new ScriptedLeg(price);
  const talking = new Promise<ScriptedTalk>((resolve) => {
    world.onTalk = (options) => {
      const talk = new ScriptedTalk(options);
      resolve(talk);
      return talk;
    };
  });
  const over = world.router.take(incoming);
  incoming.connect(leg);
  return { incoming, leg, talk: await talking, over };
}

function partsOf(
  store: TestStore,
  given: WorldOptions & { readonly counted: string[]; readonly world: () => CallWorld },
): CallParts {
  let ids = 0;
  return {
    calls: refusing(store.calls, () => given.world().isDiskFull),
    qualities: store.qualities,
    live: store.liveFeed,
    recordings: {
      start: (callId, leg) => {
        if (given.recordingRefusal !== undefined) throw new Error(given.recordingRefusal);
        leg.record(`/data/${callId}.wav`);
        return `recordings/${callId}.wav`;
      },
      hasSound: () => given.hasSound ?? !given.world().isDiskFull,
    },
    metrics: countingMetrics(given.counted),
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_${ids}`;
    },
    clock: store.clock,
    log: given.log ?? silentLogger,
    transfers: new TransferCap(store),
    isOwnNumber: async (number) => (await store.agents.findByPhoneNumber(number)) !== undefined,
    accountOf: (agent) => store.accounts.find(agent.accountId),
    toolsOf: async () => [],
    talk: (options) => given.world().onTalk(options),
  };
}

/** The real store, whose writes fail like those to a full disk while `isFull`. */
function refusing(calls: CallStore, isFull: () => boolean): CallStore {
  const write = <Values extends readonly unknown[], Result>(
    run: (...values: Values) => Promise<Result>,
  ) => {
    return async (...values: Values) => {
      if (isFull()) throw new StoreError('Cannot use the database: the disk is full', 'full');
      return run(...values);
    };
  };
  return {
    insert: write((call, events) => calls.insert(call, events)),
    update: write((call, events) => calls.update(call, events)),
    change: write((callId, decide) => calls.change(callId, decide)),
    addTranscriptEntry: write((callId, entry) => calls.addTranscriptEntry(callId, entry)),
    addTimelineEntry: write((callId, entry) => calls.addTimelineEntry(callId, entry)),
    transcript: (callId) => calls.transcript(callId),
    timeline: (callId) => calls.timeline(callId),
    find: (scope, callId) => calls.find(scope, callId),
    findById: (callId) => calls.findById(callId),
    list: (scope, query) => calls.list(scope, query),
    findUnfinished: () => calls.findUnfinished(),
    queueNotifier: calls.queueNotifier,
    waitingToDial: (environment, limit) => calls.waitingToDial(environment, limit),
    queued: (environment, direction, limit) => calls.queued(environment, direction, limit),
    countQueued: (environment, direction) => calls.countQueued(environment, direction),
  };
}

function countingMetrics(counted: string[]): CallMetrics {
  const count =
    (name: string) =>
    (...details: readonly unknown[]) => {
      counted.push([name, ...details].join(' '));
    };
  return {
    callStarted: count('started'),
    callEnded: count('ended'),
    callMissed: count('missed'),
    silentLine: count('silent'),
    callRefused: count('refused'),
    recordingFailed: count('recording-failed'),
    audio: ({ packetsReceived }) => counted.push(`audio ${packetsReceived}`),
    turn: ({ turn }) => counted.push(`turn ${turn}`),
    bargeIn: count('barge-in'),
    speculation: count('speculation'),
  };
}

async function newestCall(store: TestStore): Promise<Call> {
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const [call] = (await store.calls.list(scope, { limit: 1, offset: 0 })).calls;
  if (call === undefined) throw new Error('Cannot show the call: there is none');
  return call;
}
