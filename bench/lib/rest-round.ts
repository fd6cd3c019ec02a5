/** One round of the rest benchmark: a new process of each side, warmed up, and what each request costs each of them. */
import { copyFileSync, rmSync } from 'node:fs';
import { cpuSecondsOf, type MachineState, observe } from './harness.ts';
import { LineProcess } from './line-process.ts';
import { sendAll } from './rest-caller.ts';
import type { RestRequest } from './rest-requests.ts';
import { emptyQueue } from './rest-world.ts';
import { nodeTool } from './rtp-run.ts';
import { START_FLAGS } from './start-flags.ts';

export const PEERS = ['fastify', 'raw'] as const;

const SIDES = ['ours', ...PEERS] as const;

type Side = (typeof SIDES)[number];

/**
 * Requests of a kind before any of it is measured: a server runs for days. V8 compiles what a request runs in waves; in the last
 * great one, between 10,000 and 14,000 requests, its threads take 20 to 60 µs of each, of us and of our peers alike. A process is
 * measured when it has had so many of every kind that it is measured with, so that none of it is compiled meanwhile.
 */
const WARM_UP_REQUESTS = 16_000;

/**
 * Requests that one side gets before it is another's turn: a twentieth of a second, so that whatever the machine does
 * besides meets all sides alike. The queue of calls holds a thousand at most.
 */
const SLICE_REQUESTS = 800;

/** Of one request. */
export interface Cost {
  readonly cpuUs: number;
  readonly wallUs: number;
  readonly callerPercent: number;
}

/** What one request cost each side, in the same round. */
export interface Costs extends Readonly<Record<Side, Cost>> {
  readonly request: string;
  readonly machine: MachineState;
}

interface Sum {
  requests: number;
  cpuUs: number;
  wallUs: number;
  callerUs: number;
}

interface Server {
  readonly file: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

type Servers = Readonly<Record<Side, Server>>;

/**
 * Starts all sides, measures, and stops them.
 *
 * @param file of the records. Each side works on a copy, so that none waits for another's writes, and all begin alike.
 * @param count of requests of each kind, unless the kind says otherwise.
 */
export async function runRound(
  file: string,
  requests: readonly RestRequest[],
  count: number,
): Promise<readonly Costs[]> {
  const started: Server[] = [];
  try {
    for (const side of SIDES) started.push(await startServer(side, file));
    const servers = Object.fromEntries(SIDES.map((side, at) => [side, started[at]])) as Servers;
    const costs: Costs[] = [];
    // What is written would make lists longer.
    for (const method of ['GET', 'POST'] as const) {
      const kinds = requests.filter((request) => request.method === method);
      await sendTurns(servers, kinds, () => WARM_UP_REQUESTS);
      const { result, machine } = await observe(() =>
        sendTurns(servers, kinds, (kind) => kind.requests ?? count),
      );
      costs.push(...result.map((measured) => ({ ...measured, machine })));
    }
    return costs;
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}

async function startServer(side: Side, file: string): Promise<Server> {
  const own = `${file}.${side}`;
  copyFileSync(file, own);
  const [node, ...tool] = nodeTool(`rest-${side}`);
  const child = new LineProcess([node, ...START_FLAGS, ...tool, own]);
  const port = Number(await child.next('listening'));
  const stop = async () => {
    await child.end();
    for (const part of ['', '-wal', '-shm']) rmSync(`${own}${part}`, { force: true });
  };
  return { file: own, port, pid: child.pid, stop };
}

/** Every kind of request to every side in turn, a slice at a time, until each had enough: so no kind has another heap, or another minute. */
async function sendTurns(
  servers: Servers,
  kinds: readonly RestRequest[],
  countOf: (kind: RestRequest) => number,
): Promise<readonly Omit<Costs, 'machine'>[]> {
  const measured = kinds.map((kind) => ({
    kind,
    sums: { ours: newSum(), fastify: newSum(), raw: newSum() },
  }));
  const most = Math.max(0, ...kinds.map(countOf));
  for (let sent = 0, turn = 0; sent < most; sent += SLICE_REQUESTS, turn += 1) {
    for (const { kind, sums } of measured) {
      const slice = Math.min(SLICE_REQUESTS, countOf(kind) - sent);
      if (slice <= 0) continue;
      for (const side of inTurn(turn)) await sendSlice(servers[side], kind, slice, sums[side]);
    }
  }
  return measured.map(({ kind, sums: { ours, fastify, raw } }) => ({
    request: kind.name,
    ours: costOf(ours),
    fastify: costOf(fastify),
    raw: costOf(raw),
  }));
}

/** Each side comes first as often as the others. */
function inTurn(turn: number): readonly Side[] {
  const first = turn % SIDES.length;
  return [...SIDES.slice(first), ...SIDES.slice(0, first)];
}

function newSum(): Sum {
  return { requests: 0, cpuUs: 0, wallUs: 0, callerUs: 0 };
}

async function sendSlice(
  server: Server,
  kind: RestRequest,
  count: number,
  sum: Sum,
): Promise<void> {
  const startedMs = performance.now();
  const callerBefore = process.cpuUsage();
  const before = cpuSecondsOf(server.pid);
  await sendAll(server.port, kind, count);
  sum.cpuUs += (cpuSecondsOf(server.pid) - before) * 1e6;
  const { user, system } = process.cpuUsage(callerBefore);
  sum.callerUs += user + system;
  sum.wallUs += (performance.now() - startedMs) * 1000;
  sum.requests += count;
  if (kind.isQueued === true) emptyQueue(server.file);
}

function costOf({ requests, cpuUs, wallUs, callerUs }: Sum): Cost {
  return {
    cpuUs: cpuUs / requests,
    wallUs: wallUs / requests,
    callerPercent: (callerUs * 100) / wallUs,
  };
}
