/**
 * Row 11, rest: CPU time of a request on our interface, on Fastify, and on bare node:http, over the same records. The same code in
 * two processes differs by up to a fifth, by where its memory lies and in which order it was compiled: so every round has new
 * processes, and a figure is the median of several rounds. Calls that were started leave the queue after each slice, on all
 * sides and unmeasured, so that a run is as long as those of other requests.
 */
import { makeCallHistory } from './lib/call-history.ts';
import {
  checkTargets,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  printJson,
  type RatioSummary,
  type Row,
  ratios,
  type Target,
  textArg,
} from './lib/harness.ts';
import { REQUESTS, type RestRequest } from './lib/rest-requests.ts';
import { type Cost, type Costs, PEERS, runRound } from './lib/rest-round.ts';
import { addRestRecords } from './lib/rest-world.ts';

type Peer = (typeof PEERS)[number];

const HISTORY = { calls: 1000, days: 30 } as const;

const ROUNDS = 7;

/** Rounds that are run at most, so many times those that shall count. */
const TRIES_MAX = 2;

/** Of a kind and side in a round: twice as many turns as there are orders of the sides. */
const REQUESTS_A_ROUND = 4800;

/** A caller busier than this may itself be what is slow. */
const CALLER_PERCENT_MAX = 70;

const STEAL_PERCENT_MAX = 10;

/** `npm run bench -- rest [--only NAME-PART] [--requests 4800] [--rounds 7] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const requests = chosen(args);
  const history = await makeCallHistory(HISTORY);
  try {
    await addRestRecords(history.file);
    const costs = await roundsThatCount(history.file, requests, args);
    const compared = requests.map((request) =>
      compare(
        request,
        costs.filter((cost) => cost.request === request.name),
      ),
    );
    console.log(markdownTable(compared.map(({ row }) => row)));
    checkTargets(
      args,
      compared.flatMap(({ targets }) => targets),
    );
  } finally {
    history.remove();
  }
}

function chosen(args: readonly string[]): readonly RestRequest[] {
  const part = textArg(args, 'only') ?? '';
  return REQUESTS.filter(({ name }) => name.includes(part));
}

/** The costs of all rounds that were run: as many as it took until so many of each request counted. */
async function roundsThatCount(
  file: string,
  requests: readonly RestRequest[],
  args: readonly string[],
): Promise<readonly Costs[]> {
  const rounds = numberArg(args, 'rounds', ROUNDS);
  const count = numberArg(args, 'requests', REQUESTS_A_ROUND);
  const costs: Costs[] = [];
  const isEnough = ({ name }: RestRequest) => {
    const ofRequest = costs.filter((cost) => cost.request === name);
    return PEERS.every((peer) => ratioTo(peer, ofRequest).pairs >= rounds);
  };
  for (let round = 0; round < TRIES_MAX * rounds && !requests.every(isEnough); round += 1) {
    const measured = await runRound(file, requests, count);
    for (const cost of measured) printJson({ bench: 'rest', round, ...cost });
    costs.push(...measured);
  }
  return costs;
}

function compare(
  request: RestRequest,
  costs: readonly Costs[],
): { readonly row: Row; readonly targets: readonly Target[] } {
  const row: Record<string, string | number> = { request: request.name };
  const targets: Target[] = [];
  for (const peer of PEERS) {
    const pairs = pairsWith(peer, costs);
    const ratio = ratioTo(peer, costs);
    row[`${peer} pairs`] = ratio.pairs;
    row['ours µs'] ??= middleOf(pairs, 'a', ({ cpuUs }) => cpuUs);
    row[`${peer} µs`] = middleOf(pairs, 'b', ({ cpuUs }) => cpuUs);
    row[`/ ${peer}`] = ratio.median;
    row[`${peer} min…max`] = spreadOf(ratio);
    const limit = request.fastifyMax;
    if (peer !== 'fastify' || limit === undefined) continue;
    const name = `${request.name}: CPU against ${peer} (${spreadOf(ratio)})`;
    targets.push({ name, value: ratio.median, limit, tolerance: 0.05 });
  }
  return { row, targets };
}

function spreadOf({ min, max }: RatioSummary): string {
  return `${min.toFixed(2)}…${max.toFixed(2)}`;
}

function ratioTo(peer: Peer, costs: readonly Costs[]): RatioSummary {
  return ratios(pairsWith(peer, costs), ({ cpuUs }) => cpuUs);
}

/** A pair is two processes of one round. Load is the same for both, as they take turns. */
function pairsWith(peer: Peer, costs: readonly Costs[]): readonly Pair<Cost>[] {
  return costs.map(({ ours: a, [peer]: b, machine }) => {
    const isOverdriven = Math.max(a.callerPercent, b.callerPercent) > CALLER_PERCENT_MAX;
    return { a, b, machine, isVoid: isOverdriven || machine.stealPercent > STEAL_PERCENT_MAX };
  });
}

if (import.meta.main) await run(process.argv.slice(2));
