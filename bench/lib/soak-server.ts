/** The whole server in a process of its own, an agent on it, and a customer's endpoint that counts what it is told. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../test/support/network/free-ports.ts';
import { COMPILE_CACHE } from '../../test/support/server/compile-cache.ts';
import { LineProcess } from './line-process.ts';
import { type Holdings, holdingsOf, residentKbOf } from './process-memory.ts';
import { nodeTool } from './rtp-run.ts';
import { START_FLAGS } from './start-flags.ts';

/** From the range that is kept for examples. */
export const NUMBER = '+12025550123';

/** Two of a call that is over stay bound for 30 s: room for 130 calls a second. Other benches have those above. */
const RTP_PORTS = '2000-9999';

const READY_MS_MAX = 30_000;

export class SoakServer {
  readonly sipPort: number;
  readonly #process: LineProcess;
  readonly #folder: string;
  readonly #url: string;
  readonly #key: string;
  readonly #receiver: Server;
  readonly #told = new Set<string>();

  private constructor(options: {
    readonly process: LineProcess;
    readonly folder: string;
    readonly ports: { readonly http: number; readonly sip: number };
    readonly key: string;
  }) {
    this.#process = options.process;
    this.#folder = options.folder;
    this.#url = `http://127.0.0.1:${options.ports.http}/api`;
    this.#key = options.key;
    this.sipPort = options.ports.sip;
    this.#receiver = createServer((request, response) => {
      this.#told.add(String(request.headers['webhook-id']));
      request.resume();
      response.writeHead(204).end();
    });
  }

  /** Takes calls, and tells a customer of them, when it resolves. */
  static async start(): Promise<SoakServer> {
    const folder = mkdtempSync(join(tmpdir(), 'bench-soak-'));
    const ports = { http: await freePort(), sip: await freePort() };
    const key = `svc_live_${randomBytes(16).toString('hex')}`;
    const [node, ...tool] = nodeTool('soak-server');
    const child = new LineProcess([node, ...START_FLAGS, ...tool], {
      ...{ PORT: String(ports.http), SIP_PORT: String(ports.sip), DATA_DIR: folder },
      ...{ RTP_PORTS, BOOTSTRAP_LIVE_KEY: key, LLM: 'scripted', LOG_LEVEL: 'error' },
      ...{ WEBHOOK_ALLOW_LOCAL: 'true', NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
    const server = new SoakServer({ process: child, folder, ports, key });
    try {
      await server.#prepare(`http://127.0.0.1:${ports.http}/readyz`);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Events that reached the customer, each once. */
  get eventsTold(): number {
    return this.#told.size;
  }

  /** Without a collection. */
  get residentKb(): number {
    return residentKbOf(this.#process.pid);
  }

  holdings(): Promise<Holdings> {
    return holdingsOf(this.#process);
  }

  /** Writes what is on the main thread's heap to a file. */
  async snapshot(file: string): Promise<void> {
    this.#process.say(`snapshot ${file}`);
    await this.#process.next('snapshot');
  }

  /** Calls on record that are over. */
  async callsOnRecord(): Promise<number> {
    const { total } = await this.#ask('GET', '/calls?limit=1&status=completed');
    return Number(total);
  }

  async stop(): Promise<void> {
    await this.#process.end();
    this.#receiver.close();
    this.#receiver.closeAllConnections();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #prepare(readyUrl: string): Promise<void> {
    const untilMs = performance.now() + READY_MS_MAX;
    const isReady = () =>
      fetch(readyUrl).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isReady())) {
      if (performance.now() > untilMs) throw new Error('Cannot measure: the server is not ready');
      await wait(50);
    }
    this.#receiver.listen(0, '127.0.0.1');
    await once(this.#receiver, 'listening');
    const { port } = this.#receiver.address() as AddressInfo;
    await this.#ask('POST', '/webhooks/endpoints', {
      url: `http://127.0.0.1:${port}/`,
      events: ['call.started', 'call.ended'],
    });
    await this.#ask('POST', '/agents', {
      name: 'Soak',
      greeting: 'Hello, this is a benchmark.',
      systemPrompt: 'You are measured.',
      phoneNumber: NUMBER,
    });
  }

  async #ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ask for "${method} ${path}": ${text}`);
    return JSON.parse(text);
  }
}
