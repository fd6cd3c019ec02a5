/** The whole server in a process of its own, as an operator runs it, on free ports with an empty data folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../network/free-ports.ts';
import type { NetworkNamespace } from '../network/network-namespace.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NODE = join(ROOT, 'node_modules/.bin/node');
const START_MS_MAX = 30_000;
const END_MS_MAX = 15_000;
const BEGIN_MS_MAX = 15_000;

export const LIVE_KEY = `svc_live_${'L'.repeat(32)}`;
export const TEST_KEY = `svc_test_${'T'.repeat(32)}`;

export interface ServerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder that a server before this one used; it is kept at `stop`. */
  readonly dataDir?: string;
  /** A network that it is to be in, instead of this machine's own. */
  readonly namespace?: NetworkNamespace;
  /** What Node runs: what `npm start` builds unless given. */
  readonly program?: string;
  /** Options of Node before the program. */
  readonly nodeOptions?: readonly string[];
  /** Its working directory: the repository unless given. */
  readonly cwd?: string;
  /** Where its standard output goes, a descriptor; read into `output` unless given. */
  readonly stdout?: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A running server. */
export class TestServer {
  readonly baseUrl: string;
  readonly sipPort: number;
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #ownsData: boolean;
  #output = '';
  readonly #exited: Promise<number | null>;
  /** Calls in progress that tests know by their id. */
  readonly #named = new Set<string>();

  constructor(
    child: ChildProcess,
    facts: { port: number; sipPort: number; dataDir: string; ownsData: boolean },
  ) {
    this.#child = child;
    this.baseUrl = `http://127.0.0.1:${facts.port}`;
    this.sipPort = facts.sipPort;
    this.dataDir = facts.dataDir;
    this.#ownsData = facts.ownsData;
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-1_000_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.#exited = new Promise((resolve) => child.on('exit', resolve));
  }

  /** What it has printed so far. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves with the exit status; null when a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** Resolves when `/readyz` says 200. @param everyMs between two times that it is asked */
  async ready(everyMs = 50): Promise<this> {
    const deadlineMs = performance.now() + START_MS_MAX;
    while (performance.now() < deadlineMs && this.#child.exitCode === null) {
      const isReady = await fetch(`${this.baseUrl}/readyz`).then(
        (response) => response.status === 200,
        () => false,
      );
      if (isReady) return this;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    // The caller of `ready` has no server to stop.
    this.#child.kill('SIGKILL');
    throw new Error(`The server did not become ready; it printed:\n${this.#output}`);
  }

  async api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }

  async createAgent(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const agent = {
      name: 'Reception',
      greeting: 'Hello, how can I help you?',
      systemPrompt: 'You answer the telephone of a dentist.',
      phoneNumber: '+12025550123',
      ...fields,
    };
    const { status, body } = await this.api('POST', '/api/agents', agent);
    if (status !== 201) throw new Error(`Cannot create the agent: ${JSON.stringify(body)}`);
    return String(body.id);
  }

  /**
   * Resolves with the id of the newest call in progress that it has not named before: a caller has the 200 before its call
   * is on record as in progress, so the newest one may still be the call before.
   */
  async callInProgress(): Promise<string> {
    const deadlineMs = performance.now() + BEGIN_MS_MAX;
    for (;;) {
      const { body } = await this.api('GET', '/api/calls?status=in_progress&limit=100');
      const calls = body.data as readonly { readonly id: string }[];
      const call = calls.find(({ id }) => !this.#named.has(id));
      if (call !== undefined) {
        this.#named.add(call.id);
        return call.id;
      }
      if (performance.now() > deadlineMs) throw new Error('No call is in progress');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves with the newest calls once every one of them is over. */
  async endedCalls(): Promise<readonly Record<string, unknown>[]> {
    const deadlineMs = performance.now() + END_MS_MAX;
    for (;;) {
      const { body } = await this.api('GET', '/api/calls?limit=100');
      const calls = body.data as readonly Record<string, unknown>[];
      if (calls.every(({ endedAt }) => endedAt !== null)) return calls;
      if (performance.now() > deadlineMs) throw new Error('Some calls did not end');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it at once and removes its data, unless the folder was given. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), 8000);
      await this.#exited;
      clearTimeout(timer);
    }
    if (this.#ownsData) rmSync(this.dataDir, { recursive: true, force: true });
  }
}

let building: Promise<unknown> | undefined;

/** Builds `dist/server` as `npm start` does: where its sources have changed, looked for once in a process. */
export function buildServer(): Promise<unknown> {
  building ??= promisify(execFile)(NODE, ['src/cli/build-server.ts'], { cwd: ROOT });
  return building;
}

/** Starts a server; await `ready()` before use. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  if (options.program === undefined) await buildServer();
  const [port, sipPort] = [await freePort(), await freePort()];
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'offhook-data-'));
  const { namespace } = options;
  const [program = '', ...words] = [
    ...(namespace?.prefix ?? []),
    NODE,
    ...(options.nodeOptions ?? []),
    options.program ?? join(ROOT, 'dist/server/main.js'),
  ];
  const child = spawn(program, words, {
    cwd: options.cwd ?? ROOT,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      PORT: String(port),
      SIP_PORT: String(sipPort),
      DATA_DIR: dataDir,
      RTP_PORTS: '24000-24999',
      LLM: 'scripted',
      // The tiny models are quick, and answer alike on every machine.
      MODELS_DIR: join(ROOT, 'models/tiny'),
      LOG_LEVEL: 'info',
      BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      BOOTSTRAP_TEST_KEY: TEST_KEY,
      ...options.environment,
    },
    stdio: ['ignore', options.stdout ?? 'pipe', 'pipe'],
  });
  return new TestServer(child, {
    port: (await namespace?.openPort(port)) ?? port,
    sipPort: Number(options.environment?.SIP_PORT ?? sipPort),
    dataDir,
    ownsData: options.dataDir === undefined,
  });
}
