/** The agent's side of the demo, as the REST interface shows it while the call goes on. */
import { join } from 'node:path';
import type { DemoServer } from './demo-server.ts';

const POLL_MS = 200;
const FINISH_MS_MAX = 30_000;

export interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
  readonly confidence?: number;
}

export interface CallDetail {
  readonly id: string;
  readonly status: string;
  readonly endReason: string | null;
  readonly transcript: readonly Entry[];
}

export type Times = Readonly<Record<string, number>>;

interface TimelineItem {
  readonly kind: string;
  readonly details: Times;
}

export class AgentSide {
  readonly #server: DemoServer;
  readonly #onEntry: (entry: Entry, times: Times | undefined) => void;
  #agentId = '';
  #callId: string | undefined;
  #shown = 0;
  #isOver = false;
  #following: Promise<void> | undefined;

  constructor(server: DemoServer, onEntry: (entry: Entry, times: Times | undefined) => void) {
    this.#server = server;
    this.#onEntry = onEntry;
  }

  async createAgent(agent: Readonly<Record<string, unknown>>): Promise<void> {
    const { id } = await this.#api<{ id: string }>('POST', '/api/agents', agent);
    this.#agentId = id;
  }

  async deleteAgent(): Promise<void> {
    await this.#api('DELETE', `/api/agents/${this.#agentId}`);
  }

  /** Begins to show what is said. */
  follow(): void {
    this.#following = this.#poll();
  }

  /** Resolves with the call's record when it is over. @throws {Error} when it does not end. */
  async finished(): Promise<CallDetail> {
    const deadlineMs = performance.now() + FINISH_MS_MAX;
    while (performance.now() < deadlineMs) {
      const call = await this.#call();
      if (call !== undefined && (call.status === 'completed' || call.status === 'failed')) {
        this.#isOver = true;
        await this.#following;
        await this.#show();
        return call;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isOver = true;
    throw new Error('Cannot show the call record: the call did not end');
  }

  recordingPath(callId: string): string {
    return join(this.#server.dataDir, 'recordings', `${callId}.wav`);
  }

  async #poll(): Promise<void> {
    while (!this.#isOver) {
      await this.#show();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #show(): Promise<void> {
    const call = await this.#call();
    if (call === undefined || call.transcript.length <= this.#shown) return;
    const turns = await this.#turns(call.id);
    for (const entry of call.transcript.slice(this.#shown)) {
      this.#shown += 1;
      this.#onEntry(entry, entry.role === 'agent' ? turns.at(-1) : undefined);
    }
  }

  async #call(): Promise<CallDetail | undefined> {
    if (this.#callId === undefined) {
      const path = `/api/calls?agentId=${this.#agentId}&limit=1`;
      const { data } = await this.#api<{ data: { id: string }[] }>('GET', path);
      this.#callId = data[0]?.id;
    }
    if (this.#callId === undefined) return undefined;
    const call = await this.#api<CallDetail>('GET', `/api/calls/${this.#callId}`);
    return { ...call, transcript: call.transcript ?? [] };
  }

  async #turns(callId: string): Promise<readonly Times[]> {
    const { data } = await this.#api<{ data: TimelineItem[] }>(
      'GET',
      `/api/calls/${callId}/events`,
    );
    return data.filter(({ kind }) => kind === 'turn').map(({ details }) => details);
  }

  async #api<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(`${this.#server.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#server.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Body;
  }
}
