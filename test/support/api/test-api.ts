/** The REST interface on a real store, with one account that has keys and one that must stay invisible. */
import { randomBytes } from 'node:crypto';
import { createApi } from '../../../src/api/api.ts';
import type { ApiApp } from '../../../src/api/api-env.ts';
import type { Environment, Plan } from '../../../src/domain/account/account.ts';
import {
  API_SCOPES,
  type ApiScope,
  describeKey,
  hashOfKey,
} from '../../../src/domain/account/api-key.ts';
import { RequestLog } from '../../../src/domain/account/request-log.ts';
import type { LiveSound } from '../../../src/domain/call/live-sound.ts';
import { NumberOwners } from '../../../src/domain/dialing/number-owner.ts';
import type { DialQueue } from '../../../src/domain/dialing/outbound-rules.ts';
import type { TrunkControl, Trunks } from '../../../src/domain/dialing/trunk.ts';
import { idMaker } from '../../../src/domain/ids.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { Metrics } from '../../../src/lib/metrics/metrics.ts';
import { ServerLog } from '../../../src/lib/server-log.ts';
import {
  operatorTrunks,
  readTrunkSettings,
  TrunkRegistry,
} from '../../../src/telephony/trunks/trunk-registry.ts';
import { DocumentReaders } from '../../../src/tool/knowledge/document-readers.ts';
import { addAccount, openTestStore, type TestStore } from '../store/test-store.ts';
import { idleDownloads } from './idle-downloads.ts';
import { OWN_MODEL_ONLY } from './own-model-only.ts';
import { silentVoices } from './silent-voices.ts';
import { askByFetch } from './web-face.ts';

export const LIVE_KEY = `svc_live_${'1'.repeat(32)}`;
export const TEST_KEY = `svc_test_${'2'.repeat(32)}`;
/** Of another account. */
export const FOREIGN_KEY = `svc_live_${'3'.repeat(32)}`;

/** Live sound without a call. */
const NO_SOUND: LiveSound = {
  watchLevels: () => () => undefined,
  listen: () => ({ kind: 'not-in-progress' }),
  quality: async () => undefined,
  close: () => undefined,
};

/** The trunks of the store, in a server whose telephony is not started. */
function trunksOf(store: TestStore): { trunks: Trunks; trunkControl: TrunkControl } {
  const registry = new TrunkRegistry([]);
  return {
    trunks: operatorTrunks(registry, { statusOf: () => undefined, callsOn: () => 0 }),
    trunkControl: {
      read: readTrunkSettings,
      check: async (name) => registry.find(name) && { ok: true, steps: [] },
      reload: async () => void registry.replaceStored(await store.storedTrunks.list()),
    },
  };
}

export interface RequestOptions {
  /** `null` sends none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly text?: string;
  readonly remoteAddress?: string;
}

/** What answers may hold; a test looks only at what its route gives. */
export interface AnswerBody {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly recordingUrl: string;
  readonly settings: object;
  readonly model: string | null;
  readonly status: string;
  readonly signingSecret: string;
  readonly preparedSecret: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly total: number;
  readonly data: readonly { readonly id: string }[];
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly status: number;
    readonly requestId: string;
    readonly details: readonly { readonly path: string; readonly message: string }[];
  };
}

type ApiParts = Partial<Parameters<typeof createApi>[0]>;

export interface TestApi {
  readonly store: TestStore;
  readonly metrics: Metrics;
  /** The application as a server serves it. */
  readonly app: ApiApp;
  fetch(request: Request): Promise<Response>;
  /** Takes what was written to the store's trunks itself. */
  reloadTrunks(): Promise<void>;
  request(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** As `request`, reading the answer's JSON. */
  json(
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<{ status: number; body: AnswerBody }>;
}

/** @param deps or makes them, where they need the store. */
export async function openTestApi(
  deps: ApiParts | ((store: TestStore) => ApiParts) = {},
  options: { readonly plan?: Plan } = {},
): Promise<TestApi> {
  const store = await openTestStore();
  // The first account, which owns unassigned numbers.
  await addAccount(store, 'acct_main', {
    plan: options.plan ?? 'enterprise',
    createdAt: new Date(0),
  });
  await addAccount(store, 'acct_foreign', { plan: 'enterprise' });
  await addKey(store, LIVE_KEY, { accountId: 'acct_main', environment: 'live' });
  await addKey(store, TEST_KEY, { accountId: 'acct_main', environment: 'test' });
  await addKey(store, FOREIGN_KEY, { accountId: 'acct_foreign', environment: 'live' });
  const metrics = new Metrics({ version: '0.0.0' });
  const given = typeof deps === 'function' ? deps(store) : deps;
  const stored = trunksOf(store);
  const { trunks = stored.trunks } = given;
  const { accounts, numberAssignments: assignments } = store;
  const api = createApi({
    ...store,
    transaction: (work) => store.transaction(work),
    numberOwners: new NumberOwners({ accounts, assignments, trunks }),
    metrics,
    readiness: async () => ({ status: 'ready', engines: [], carriers: [], checks: [] }),
    log: silentLogger,
    requestLog: new RequestLog(store.clock),
    serverLog: new ServerLog(store.clock),
    newId: idMaker({ nowMs: () => store.clock.nowMs(), random: randomBytes }),
    random: randomBytes,
    publicUrl: 'https://voice.example',
    dataFolder: store.folder,
    liveCalls: { holds: () => false, hangUp: () => false, transfer: () => 'not-in-progress' },
    eraser: { finish: () => Promise.resolve() },
    liveSound: NO_SOUND,
    readPeaks: async () => 'none',
    dialQueues: { live: idleQueue(store.clock), test: idleQueue(store.clock) },
    plansWithoutOutbound: [],
    voices: silentVoices(),
    callTraces: {
      of: async () => ({ messages: [], isTruncated: false, source: 'none', note: 'None' }),
    },
    trunks,
    trunkControl: stored.trunkControl,
    chat: {
      reply: async () => ({
        text: 'Yes.',
        toolCalls: [],
        model: 'none',
        isPromptUsed: false,
        preparedMs: 0,
        firstTokenMs: 1,
        tookMs: 1,
      }),
    },
    modelDownloads: idleDownloads(store.clock),
    languageModels: OWN_MODEL_ONLY,
    documentReader: new DocumentReaders({ clock: systemClock }),
    mcpTrial: {
      prepare: () => undefined,
      run: async () => ({ tools: [], problem: null, tookMs: 1 }),
    },
    toolTrial: { run: async () => ({ isDone: true, text: 'Done.', problem: null, tookMs: 1 }) },
    webhookUrlRules: { allowLocal: false, allowPrivate: false },
    recordingSecret: 'a secret of thirty-two characters',
    version: '0.0.0',
    ...given,
  });
  const request = (method: string, path: string, given: RequestOptions = {}) => {
    const { remoteAddress = '203.0.113.7' } = given;
    const asked = new Request(`http://localhost${path}`, initOf(method, given));
    return askByFetch(api, asked, remoteAddress);
  };
  const json = async (method: string, path: string, given?: RequestOptions) => {
    const response = await request(method, path, given);
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  const fetch = (asked: Request) => askByFetch(api, asked);
  const reloadTrunks = () => stored.trunkControl.reload();
  return { store, metrics, app: api, fetch, request, json, reloadTrunks };
}

/** Adds a key to an account. */
export async function addKey(
  store: TestStore,
  text: string,
  facts: {
    readonly accountId: string;
    readonly environment: Environment;
    readonly scopes?: readonly ApiScope[];
  },
): Promise<void> {
  const scopes = facts.scopes ?? API_SCOPES.filter((scope) => scope !== 'admin');
  const id = `key_${text.slice(-12)}`;
  const apiKey = describeKey(text, { ...facts, scopes, id, name: id, createdAt: new Date(0) });
  await store.apiKeys.insert(apiKey, hashOfKey(text));
}

/** A queue whose way out is free, through a trunk for every number. */
function idleQueue(clock: TestStore['clock']): DialQueue {
  return { isDraining: false, hasTrunkFor: () => true, estimatedStart: async () => clock.now() };
}

function initOf(
  method: string,
  { key = LIVE_KEY, headers, body, text }: RequestOptions,
): RequestInit {
  const hasBody = body !== undefined || text !== undefined;
  return {
    method,
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...headers,
    },
    ...(hasBody ? { body: text ?? JSON.stringify(body) } : {}),
  };
}
