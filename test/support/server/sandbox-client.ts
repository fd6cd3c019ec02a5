/** A customer with a test key: makes an agent, simulates calls, and waits for what comes of them. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readStereo, type StereoRecording } from '../speech/recording.ts';
import { TEST_KEY, type TestServer } from './server.ts';

const OVER_MS_MAX = 60_000;

/** Poll interval, long enough that many calls stay within the hourly rate limit. */
const LOOK_MS = 50;

export interface SimulatedCall {
  readonly id: string;
  readonly to: string;
  readonly status: string;
  readonly endReason: string | null;
  readonly endedAt: string | null;
  readonly durationSeconds: number;
  readonly recordingUrl: string | null;
  readonly transcript?: readonly {
    readonly role: string;
    readonly text: string;
    readonly confidence?: number;
  }[];
  /** From the request to the end on record, in real time. */
  readonly tookMs: number;
}

interface ServedEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly callId: string };
}

/** What answers may hold; a test looks only at what its route gives. */
type AnswerBody = SimulatedCall & {
  readonly callId: string;
  readonly data: readonly (SimulatedCall & ServedEvent)[];
};

export class SandboxClient {
  readonly #server: TestServer;

  constructor(server: TestServer) {
    this.#server = server;
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: AnswerBody }> {
    const response = await fetch(`${this.#server.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as AnswerBody };
  }

  /** @returns the agent's id. */
  async createAgent(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { body } = await this.request('POST', '/api/agents', {
      name: 'Reception',
      greeting: 'Hello, how can I help you?',
      systemPrompt: 'You answer the telephone of a dentist.',
      phoneNumber: '+12025550123',
      ...fields,
    });
    return body.id;
  }

  /** Simulates calls by the same kind of request, all at once, and waits until they are over. */
  async calls(
    direction: 'outbound' | 'inbound',
    bodies: readonly object[],
  ): Promise<readonly SimulatedCall[]> {
    const path = direction === 'outbound' ? '/api/calls/outbound' : '/api/sandbox/calls/inbound';
    const askedAtMs = performance.now();
    const asked = await Promise.all(bodies.map((body) => this.request('POST', path, body)));
    const refused = asked.find(({ status }) => status !== 202);
    if (refused !== undefined) throw new Error(`Cannot call: ${JSON.stringify(refused.body)}`);
    const tookMs = await this.#tookMs(
      asked.map(({ body }) => body.callId),
      askedAtMs,
    );
    return Promise.all(
      [...tookMs].map(async ([id, ms]) => {
        const { body } = await this.request('GET', `/api/calls/${id}`);
        return { ...body, tookMs: ms };
      }),
    );
  }

  /** The call's events of the ledger, as soon as there is one of `untilKind`. */
  async events(callId: string, untilKind: string): Promise<readonly ServedEvent[]> {
    const deadlineMs = performance.now() + OVER_MS_MAX;
    for (;;) {
      const { body } = await this.request('GET', `/api/events?callId=${callId}&limit=100`);
      const events: readonly ServedEvent[] = body.data;
      if (events.some(({ event }) => event === untilKind)) return events;
      if (performance.now() > deadlineMs) throw new Error(`No ${untilKind} came`);
      await wait(LOOK_MS);
    }
  }

  /** The recording as the link gives it, and as it lies on the disk. */
  async recording({ id, recordingUrl }: SimulatedCall): Promise<{
    readonly sizeBytes: number;
    readonly sound: StereoRecording | undefined;
  }> {
    const { pathname, search } = new URL(recordingUrl ?? 'none');
    const response = await fetch(`${this.#server.baseUrl}${pathname}${search}`);
    const { byteLength: sizeBytes } = await response.arrayBuffer();
    return { sizeBytes, sound: readStereo(join(this.#server.dataDir, 'recordings', `${id}.wav`)) };
  }

  async #tookMs(ids: readonly string[], askedAtMs: number): Promise<ReadonlyMap<string, number>> {
    const took = new Map<string, number>();
    while (took.size < ids.length) {
      const { body } = await this.request('GET', '/api/calls?limit=100');
      const passedMs = performance.now() - askedAtMs;
      if (passedMs > OVER_MS_MAX) throw new Error('The calls did not end');
      for (const { id, endedAt } of body.data) {
        if (ids.includes(id) && endedAt !== null && !took.has(id)) took.set(id, passedMs);
      }
      await wait(LOOK_MS);
    }
    return took;
  }
}
