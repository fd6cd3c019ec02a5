/** An analyst on a real store; what the language model answers, and when, is the test's to say. */
import { Analyst } from '../../../src/call/analysis/analyst.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { StoreError } from '../../../src/domain/service-error.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import type { LanguageModel, ModelEvent, ModelRequest } from '../../../src/llm/language-model.ts';
import { buildAgent } from '../../support/store/build-agent.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../../support/store/test-store.ts';

/** What a well-behaved model says. */
export const GOOD_ANSWER = JSON.stringify({
  summary: 'The caller booked a cleaning.',
  sentiment: 'positive',
  sentimentScore: 0.9,
  intent: 'booking',
});

/** Never answers, and does not mind being aborted. */
export const HANGS: AnswerOf = () => new Promise(() => undefined);

export type AnswerOf = (request: ModelRequest, index: number) => string | Promise<string>;

/** Answers as the test says, and keeps what it was asked. */
export class TestModel implements LanguageModel {
  readonly name = 'test/model';
  readonly asked: ModelRequest[] = [];
  answer: AnswerOf;

  constructor(answer: AnswerOf) {
    this.answer = answer;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.asked.push(request);
    yield { kind: 'text', text: await this.answer(request, this.asked.length - 1) };
  }

  check(): Promise<void> {
    return Promise.resolve();
  }
}

export interface AnalystWorld {
  readonly store: TestStore;
  readonly model: TestModel;
  readonly analyst: Analyst;
  /** Counted analyses, by model. */
  readonly counted: readonly string[];
  /** Warnings and errors. */
  readonly logged: readonly string[];
  /** While true, nothing can be written. */
  isDiskFull: boolean;
  /** The call that cannot be saved, as if by a mistake of ours. */
  broken: string | undefined;
  /** How often it could not. */
  failures: number;
  /** Calls whose transcripts were read, in order. */
  readonly reads: string[];
  /** How long reading a transcript takes. */
  readMs: number;
  /** Ends a call that was answered half a minute ago, with these words of the caller on it. */
  endCall(words?: readonly string[], fields?: Partial<Call>): Promise<Call>;
  /** A further analyst on the same store: the process after this one. */
  newAnalyst(): Analyst;
  /** Lets `ms` go by, with all that happens meanwhile. */
  pass(ms: number): Promise<void>;
  /** Kinds of the call's events. */
  events(callId?: string): Promise<string[]>;
  /** The data of the call's only `call.transcribed`. */
  transcribed(callId?: string): Promise<Record<string, unknown>>;
}

export async function openAnalystWorld(
  answer: AnswerOf = () => GOOD_ANSWER,
  agent: Parameters<typeof buildAgent>[0] = {},
): Promise<AnalystWorld> {
  const store = await openTestStore();
  await store.agents.insert(buildAgent({ id: 'agent_1', ...agent }));
  const model = new TestModel(answer);
  const counted: string[] = [];
  let ids = 0;
  let spentMs = 0;
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const newAnalyst = () =>
    new Analyst({
      environment: 'live',
      modelOf: () => model,
      analyses: refusing(store.analyses, ['finish', 'retryAt'], refuse),
      calls: {
        findById: (callId) => store.calls.findById(callId),
        addTimelineEntry: async (callId, entry) => {
          refuse([callId]);
          await store.calls.addTimelineEntry(callId, entry);
        },
        transcript: async (callId) => {
          world.reads.push(callId);
          spentMs += world.readMs;
          return store.calls.transcript(callId);
        },
      },
      events: store.events,
      agents: store.agents,
      recordingLink: (callId) => `https://voice.example/${callId}`,
      metrics: { analysed: (result) => void counted.push(result) },
      newId: (prefix) => {
        ids += 1;
        return `${prefix}_a${ids}`;
      },
      clock: {
        nowMs: () => store.clock.nowMs() + spentMs,
        now: () => store.clock.now(),
        after: (delayMs, ring) => store.clock.after(delayMs, ring),
      },
      log: { ...silentLogger, warn: note, error: note },
    });
  const world: AnalystWorld = {
    store,
    model,
    counted,
    logged,
    isDiskFull: false,
    broken: undefined,
    failures: 0,
    reads: [],
    readMs: 0,
    analyst: newAnalyst(),
    newAnalyst,
    endCall: (words = ['I want to book a cleaning.'], fields = {}) =>
      endCall(store, { words, fields }),
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 500) {
        store.clock.advance(Math.min(500, ms - passed));
        await settled();
      }
      await settled();
    },
    events: async (callId = 'call_1') =>
      (await store.events.listByCall(callId)).map(({ kind }) => kind),
    transcribed: (callId = 'call_1') => transcribedOf(store, callId),
  };
  function refuse(values: readonly unknown[]): void {
    if (world.isDiskFull) throw new StoreError('Cannot use the database: the disk is full', 'full');
    if (world.broken === undefined || values[0] !== world.broken) return;
    world.failures += 1;
    throw new TypeError('a mistake of ours');
  }
  return world;
}

/** Lets promises go as far as they can. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

async function endCall(
  store: TestStore,
  { words, fields }: { words: readonly string[]; fields: Partial<Call> },
): Promise<Call> {
  const endedAt = store.clock.now();
  const answeredAt = new Date(endedAt.getTime() - 30_000);
  const call = buildCall({ status: 'in_progress', answeredAt, ...fields });
  await store.calls.insert(call, []);
  await store.calls.addTranscriptEntry(call.id, { role: 'agent', text: 'Hello.', at: answeredAt });
  for (const text of words) {
    const entry = { role: 'user', text, at: new Date(STORE_NOW_MS), confidence: 0.9 } as const;
    await store.calls.addTranscriptEntry(call.id, entry);
  }
  const end = { status: 'completed', endReason: 'user_hangup', durationSeconds: 30 } as const;
  const ended = { ...call, ...end, endedAt };
  await store.calls.update(ended, []);
  return ended;
}

async function transcribedOf(store: TestStore, callId: string): Promise<Record<string, unknown>> {
  const bodies = (await store.events.listByCall(callId))
    .filter(({ kind }) => kind === 'call.transcribed')
    .map(({ body }) => JSON.parse(body));
  if (bodies.length !== 1) throw new Error(`expected one call.transcribed, got ${bodies.length}`);
  return bodies[0].data;
}

/** The real store, whose named methods fail when `refuse` throws. */
function refusing<Target extends object>(
  target: Target,
  methods: readonly (keyof Target)[],
  refuse: (values: readonly unknown[]) => void,
): Target {
  return new Proxy(target, {
    get: (whole, name) => {
      const value = Reflect.get(whole, name);
      if (typeof value !== 'function') return value;
      const run = value.bind(whole);
      if (!methods.includes(name as keyof Target)) return run;
      return (...values: unknown[]) => {
        refuse(values);
        return run(...values);
      };
    },
  });
}
