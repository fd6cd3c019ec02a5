/** A server with a live view as busy as one wants: all else passes through to a real server. */
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LEVELS_MS = 250;

/** Each call's caller is heard in parts this often, and a whole sentence this often. */
const HEARING_MS = 1000;
const SAID_MS = 3000;

/** Sentences that each call begins with: as many as a card shows. */
const WORDS = 40;

/** Events are spread over the time, as those of real calls are. */
const TICK_MS = 50;

export interface LiveStandIn {
  readonly baseUrl: string;
  /** Sentences told so far. */
  readonly said: () => number;
  readonly stop: () => void;
}

/**
 * Answers `GET /api/live/calls` with so many calls in progress: levels of all every 250 ms, each caller's words in parts
 * once a second, and a sentence of each call every three seconds.
 *
 * @param call A call as the list shows it; all others are like it.
 */
export async function startLiveStandIn(
  server: { readonly baseUrl: string },
  options: { readonly calls: number; readonly call: object },
): Promise<LiveStandIn> {
  const { hostname, port } = new URL(server.baseUrl);
  const ids = Array.from({ length: options.calls }, (_, index) => `call_live${index}`);
  const timers = new Set<ReturnType<typeof setInterval>>();
  const told = { said: 0 };
  const proxy = createServer((incoming, response) => {
    if (incoming.url?.startsWith('/api/live/calls')) {
      const timer = stream(response, { ids, call: options.call, told });
      timers.add(timer);
      return;
    }
    const { url: path, method, headers } = incoming;
    const outgoing = request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    said: () => told.said,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

function sentence(number: number, agoMs = 0): object {
  const role = number % 2 === 0 ? 'user' : 'agent';
  const timestamp = new Date(Date.now() - agoMs);
  return { role, text: `Sentence ${number} of a call.`, timestamp };
}

function stream(
  response: ServerResponse,
  facts: {
    readonly ids: readonly string[];
    readonly call: object;
    readonly told: { said: number };
  },
): ReturnType<typeof setInterval> {
  const { ids, call, told } = facts;
  const send = (event: string, data: object) =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const going = { ...call, status: 'in_progress', endedAt: null, endReason: null };
  const transcript = Array.from({ length: WORDS }, (_, index) =>
    sentence(index, (WORDS - index) * SAID_MS),
  );
  send('snapshot', { calls: ids.map((id) => ({ ...going, id, transcript })), queuedCalls: 0 });
  let tick = 0;
  const every = (periodMs: number, index: number) =>
    (tick + index) % Math.round(periodMs / TICK_MS) === 0;
  const timer = setInterval(() => {
    tick += 1;
    if (every(LEVELS_MS, 0)) {
      const level = (index: number) => -50 + ((tick * 7 + index * 13) % 45);
      const levels = ids.map((callId, index) => ({
        callId,
        ...{ caller: level(index), agent: level(index + 3) },
      }));
      send('levels', { levels });
    }
    for (const [index, callId] of ids.entries()) {
      if (every(HEARING_MS, index)) send('hearing', { callId, text: `words so far ${tick}` });
      if (!every(SAID_MS, index)) continue;
      send('said', { callId, entry: sentence(tick) });
      told.said += 1;
    }
  }, TICK_MS);
  response.on('close', () => clearInterval(timer));
  return timer;
}
