/**
 * Row 11, rest: CPU time of a request on our interface, on Fastify, and on bare node:http, over the same records. Calls that
 * were started leave the queue after every 900, on all sides and unmeasured, so that a run is as long as those of other requests.
 */
import { copyFileSync } from 'node:fs';
import { makeCallHistory } from './lib/call-history.ts';
import {
  checkTargets,
  cpuSecondsOf,
  markdownTable,
  numberArg,
  type Pair,
  pairedRuns,
  percentile,
  printJson,
  type Row,
  ratios,
  type Target,
} from './lib/harness.ts';
import { LineProcess } from './lib/line-process.ts';
import { sendAll } from './lib/rest-caller.ts';
import { REQUESTS, type RestRequest } from './lib/rest-requests.ts';
import { addRestRecords, emptyQueue } from './lib/rest-world.ts';
import { nodeTool } from './lib/rtp-run.ts';
import { START_FLAGS } from './lib/start-flags.ts';

const PEERS = ['fastify', 'raw'] as const;

type Peer = (typeof PEERS)[number];

const HISTORY = { calls: 1000, days: 30 } as const;

/** A caller busier than this may itself be what is slow. */
const CALLER_PERCENT_MAX = 70;

/**
 * Requests of a kind before any is measured: a server runs for days. V8 compiles what a request runs in waves; in the last great
 * one, between 10,000 and 14,000 requests, its threads take 20 to 60 µs of each, of us and of our peers alike.
 */
const WARM_UP_REQUESTS = 16_000;

/** Most of a second: what a neighbour on the machine takes in a moment would be half of a shorter run. */
const REQUESTS_A_RUN = 8000;

/** Requests in one go where each leaves a call in the queue, which holds a thousand at most. */
const QUEUED_AT_ONCE = 900;

/** Pairs that are run at most, so many times those that shall count. */
const TRIES_MAX = 4;

interface Cost {
  readonly cpuUs: number;
  readonly wallUs: number;
  readonly callerPercent: number;
}

interface Server {
  readonly file: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** `npm run bench -- rest [--only NAME-PART] [--requests 8000] [--pairs 5] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const history = await makeCallHistory(HISTORY);
  const servers = new Map<'ours' | Peer, Server>();
  const rows: Row[] = [];
  const targets: Target[] = [];
  try {
    await addRestRecords(history.file);
    for (const name of ['ours', ...PEERS] as const) {
      servers.set(name, await startServer(name, history.file));
    }
    for (const request of chosen(args)) {
      const { row, found } = await compare(servers, { request, args });
      rows.push(row);
      targets.push(...found);
    }
  } finally {
    await Promise.all([...servers.values()].map((server) => server.stop()));
    history.remove();
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

function chosen(args: readonly string[]): readonly RestRequest[] {
  const part = args[args.indexOf('--only') + 1];
  return args.includes('--only') && part !== undefined
    ? REQUESTS.filter(({ name }) => name.includes(part))
    : REQUESTS;
}

/** Each has a copy of the records, so that none waits for another's writes. */
async function startServer(name: string, file: string): Promise<Server> {
  const own = `${file}.${name}`;
  copyFileSync(file, own);
  const [node, ...tool] = nodeTool(`rest-${name}`);
  const child = new LineProcess([node, ...START_FLAGS, ...tool, own]);
  const port = Number(await child.next('listening'));
  return { file: own, port, pid: child.pid, stop: () => child.end() };
}

async function compare(
  servers: ReadonlyMap<string, Server>,
  options: { readonly request: RestRequest; readonly args: readonly string[] },
): Promise<{ readonly row: Row; readonly found: readonly Target[] }> {
  const { request, args } = options;
  const requests = request.requests ?? numberArg(args, 'requests', REQUESTS_A_RUN);
  const pairs = numberArg(args, 'pairs', 5);
  const row: Record<string, string | number> = { request: request.name };
  const found: Target[] = [];
  const ours = existing(servers, 'ours');
  await warmUp(ours, request, requests);
  for (const peer of PEERS) {
    const other = existing(servers, peer);
    await warmUp(other, request, requests);
    const runs = await pairsThatCount(pairs, {
      a: () => costOf(ours, request, requests),
      b: () => costOf(other, request, requests),
    });
    for (const pair of runs) printJson({ bench: 'rest', request: request.name, peer, ...pair });
    const ratio = ratios(runs, ({ cpuUs }) => cpuUs);
    row[`${peer} pairs`] = ratio.pairs;
    row['ours µs'] ??= median(runs, ({ a }) => a.cpuUs);
    row[`${peer} µs`] = median(runs, ({ b }) => b.cpuUs);
    row[`/ ${peer}`] = ratio.median;
    row[`${peer} min…max`] = `${ratio.min.toFixed(2)}…${ratio.max.toFixed(2)}`;
    const limit = peer === 'fastify' ? request.fastifyMax : request.rawMax;
    if (limit === undefined) continue;
    const name = `${request.name}: CPU against ${peer}`;
    found.push({ name, value: ratio.median, limit, tolerance: 0.05 });
  }
  return { row, found };
}

/** All pairs that were run: as many as it took until so many of them counted. */
async function pairsThatCount(
  pairs: number,
  sides: Pick<Parameters<typeof pairedRuns<Cost>>[0], 'a' | 'b'>,
): Promise<readonly Pair<Cost>[]> {
  const runs: Pair<Cost>[] = [];
  const missing = () => pairs - runs.filter(({ isVoid }) => !isVoid).length;
  while (missing() > 0 && runs.length < TRIES_MAX * pairs) {
    const more = await pairedRuns({ pairs: missing(), ...sides });
    runs.push(...more.map(voidIfOverdriven));
  }
  return runs;
}

async function warmUp(server: Server, request: RestRequest, requests: number): Promise<void> {
  for (let sent = 0; sent < WARM_UP_REQUESTS; sent += requests) {
    await costOf(server, request, requests);
  }
}

function existing(servers: ReadonlyMap<string, Server>, name: string): Server {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`Cannot measure "${name}": it was not started`);
  return server;
}

async function costOf(server: Server, request: RestRequest, count: number): Promise<Cost> {
  const atOnce = request.isQueued === true ? QUEUED_AT_ONCE : count;
  const sum = { cpuUs: 0, callerUs: 0, wallUs: 0 };
  for (let sent = 0; sent < count; sent += atOnce) {
    const startedMs = performance.now();
    const callerBefore = process.cpuUsage();
    const before = cpuSecondsOf(server.pid);
    await sendAll(server.port, request, Math.min(atOnce, count - sent));
    sum.cpuUs += (cpuSecondsOf(server.pid) - before) * 1e6;
    const { user, system } = process.cpuUsage(callerBefore);
    sum.callerUs += user + system;
    sum.wallUs += (performance.now() - startedMs) * 1000;
    if (request.isQueued === true) emptyQueue(server.file);
  }
  const callerPercent = (sum.callerUs * 100) / sum.wallUs;
  return { cpuUs: sum.cpuUs / count, wallUs: sum.wallUs / count, callerPercent };
}

function voidIfOverdriven(pair: Pair<Cost>): Pair<Cost> {
  const busiest = Math.max(pair.a.callerPercent, pair.b.callerPercent);
  return { ...pair, isVoid: pair.isVoid || busiest > CALLER_PERCENT_MAX };
}

function median(runs: readonly Pair<Cost>[], pick: (pair: Pair<Cost>) => number): number {
  return percentile(runs.map(pick), 50);
}

if (import.meta.main) await run(process.argv.slice(2));
