/** The sandbox on a real store, in time that the test turns, with a voice that needs none. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Sandbox } from '../../../src/compose/sandbox.ts';
import { readConfig } from '../../../src/config/config.ts';
import {
  type Agent,
  type AgentSettings,
  DEFAULT_AGENT_SETTINGS,
} from '../../../src/domain/agent/agent.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { isOver } from '../../../src/domain/call/call-life.ts';
import { idMaker } from '../../../src/domain/ids.ts';
import type { PassageSearch } from '../../../src/domain/knowledge/knowledge.ts';
import { Notifier } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { PhraseCache } from '../../../src/speech/tts/voices/phrase-cache.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { readStereo, type StereoRecording } from '../../support/speech/recording.ts';
import { ScriptedSynthesizer } from '../../support/speech/scripted-synthesizer.ts';
import { buildAgent } from '../../support/store/build-agent.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { openTestStore, type TestStore } from '../../support/store/test-store.ts';

/** 60 ms a letter. */
const SAMPLES_PER_LETTER = 480;

/** Real time, of which a simulated call sees ten times as much. */
const STEP_MS = 6;

const CALL_MS_MAX = 60_000;

export interface SandboxWorld {
  readonly store: TestStore;
  readonly agent: Agent;
  readonly sandbox: Sandbox;
  readonly synthesizer: ScriptedSynthesizer;
  /** Queues a call to or from a number. */
  queue(call: Partial<Call>): Promise<string>;
  call(id: string): Promise<Call>;
  /** Turns the hands until these calls are over. */
  untilOver(...ids: readonly string[]): Promise<void>;
  /** Turns the hands by so much real time. */
  pass(realMs: number): Promise<void>;
  kinds(id: string): Promise<string[]>;
  /** The body of the call's event of a kind. */
  event(id: string, kind: string): Promise<Record<string, unknown>>;
  recording(id: string): Promise<StereoRecording | undefined>;
}

export async function openSandboxWorld(
  options: {
    readonly agent?: Partial<Agent>;
    readonly settings?: Partial<AgentSettings>;
    readonly environment?: Readonly<Record<string, string>>;
    /** The customer's own tools. */
    readonly ownTools?: readonly Tool[];
    /** The documents of the agent. */
    readonly knowledge?: PassageSearch;
  } = {},
): Promise<SandboxWorld> {
  const store = await openTestStore();
  const settings = { ...DEFAULT_AGENT_SETTINGS, ...options.settings };
  const agent = buildAgent({ environment: 'test', settings, ...options.agent });
  await store.agents.insert(agent);
  mkdirSync(join(store.folder, 'recordings'));
  const synthesizer = new ScriptedSynthesizer(SAMPLES_PER_LETTER);
  const sandbox = new Sandbox({
    config: readConfig({ DATA_DIR: store.folder, ...options.environment }),
    disk: { isShort: false, state: '' },
    store,
    knowledgeOf: async () => options.knowledge,
    ownToolsOf: async () => options.ownTools ?? [],
    watch: { admits: () => true, reopened: new Notifier() },
    speech: { synthesizer: new PhraseCache({ synthesizer, sizeBytesMax: 10_000_000 }) },
    newId: idMaker({ nowMs: () => store.clock.nowMs(), random: randomBytes }),
    clock: store.clock,
    log: silentLogger,
  });
  onTestFinished(() => sandbox.stop());
  let calls = 0;
  const call = async (id: string) => {
    const found = await store.calls.findById(id);
    if (found === undefined) throw new Error(`Cannot find call "${id}"`);
    return found;
  };
  return {
    store,
    agent,
    sandbox,
    synthesizer,
    call,
    queue: async (facts) => {
      calls += 1;
      const id = `call_${String(calls).padStart(4, '0')}`;
      await store.calls.insert(queuedCall({ id, agentId: agent.id, ...facts }, store), []);
      return id;
    },
    untilOver: (...ids) =>
      turnHands(store, async () => {
        for (const id of ids) if (!isOver((await call(id)).status)) return false;
        return true;
      }),
    pass: async (realMs) => {
      const untilMs = store.clock.nowMs() + realMs;
      await turnHands(store, async () => store.clock.nowMs() >= untilMs);
    },
    kinds: async (id) => (await store.events.listByCall(id)).map(({ kind }) => kind),
    event: async (id, kind) => {
      const event = (await store.events.listByCall(id)).find((one) => one.kind === kind);
      return JSON.parse(event?.body ?? '{}').data;
    },
    recording: async (id) => {
      const { recordingFile } = await call(id);
      return recordingFile === null ? undefined : readStereo(join(store.folder, recordingFile));
    },
  };
}

function queuedCall(facts: Partial<Call>, store: TestStore): Call {
  return buildCall({
    environment: 'test',
    direction: 'outbound',
    status: 'queued',
    from: '+12025550123',
    to: '+12025550199',
    createdAt: store.clock.now(),
    startedAt: null,
    answeredAt: null,
    ...facts,
  });
}

async function turnHands(store: TestStore, isDone: () => Promise<boolean>): Promise<void> {
  for (let passedMs = 0; passedMs < CALL_MS_MAX; passedMs += STEP_MS) {
    // The clock waits for the disk, as with real time: otherwise a recording would seem never to finish.
    await stat(store.folder);
    await setImmediate();
    if (await isDone()) return;
    store.clock.advance(STEP_MS);
  }
  throw new Error('The calls did not end');
}
