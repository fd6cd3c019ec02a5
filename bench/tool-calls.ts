/**
 * Fifty calls whose agent asks an HTTP tool of 300 ms in every turn; do other calls on the same server notice?
 *
 * Both kinds of callers are processes of their own that take turns with the whole server, as in `call-loop`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkTargets,
  markdownTable,
  numberArg,
  type Pair,
  pairedRuns,
  percentile,
  printJson,
  type Row,
} from './lib/harness.ts';
import { TalkServer } from './lib/talk-server.ts';
import { runServer, type TurnRun, turnCaller } from './lib/turn-run.ts';

const REPLY_MS = 400;

const TOOL_MS = 300;

interface ToolRun extends TurnRun {
  /** Of the fifty calls. */
  readonly fifty: TurnRun;
  /** Requests that the tool's server answered. */
  readonly asked: number;
}

interface Plan {
  readonly calls: number;
  readonly toolCalls: number;
  readonly seconds: number;
  readonly pairs: number;
}

/** `npm run bench -- tool-calls [--calls 20] [--tool-calls 50] [--seconds 10] [--pairs 3] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const pairs = await measure({
    calls: numberArg(args, 'calls', 20),
    toolCalls: numberArg(args, 'tool-calls', 50),
    seconds: numberArg(args, 'seconds', 10),
    pairs: numberArg(args, 'pairs', 3),
  });
  for (const { a, b, machine, isVoid } of pairs) {
    const sides = { with: figuresOf([a]), without: figuresOf([b]) };
    printJson({ bench: 'tool-calls', ...sides, asked: a.asked, machine, isVoid });
  }
  const tools = pairs.map(({ a }) => a.fifty);
  console.log(
    markdownTable([
      { calls: 'others, during calls with the tool', ...figuresOf(pairs.map(({ a }) => a)) },
      { calls: 'others, during calls without', ...figuresOf(pairs.map(({ b }) => b)) },
      { calls: 'with the tool', ...figuresOf(tools) },
    ]),
  );
  const judged = pairs.filter(({ isVoid }) => !isVoid);
  const later = (pick: (run: ToolRun) => number) =>
    percentile(
      judged.map(({ a, b }) => pick(a) - pick(b)),
      50,
    );
  const missed = [...pairs.map(({ a }) => a), ...tools].reduce((sum, one) => sum + one.missed, 0);
  const reply = (share: number) => (one: TurnRun) => percentile(one.replies, share);
  checkTargets(args, [
    { name: 'turns without a reply', value: missed, limit: 0, tolerance: 0 },
    { name: 'reply p50 later by ms', value: later(reply(50)), limit: 5, tolerance: 0 },
    { name: 'reply p95 later by ms', value: later(reply(95)), limit: 15, tolerance: 0 },
    {
      name: 'packets p99 later by ms',
      value: later((one) => one.packetsLateP99Ms),
      limit: 1,
      tolerance: 0,
    },
  ]);
}

/** Turns of the same calls, alternately during fifty calls that use the tool and fifty that do not. */
async function measure(plan: Plan): Promise<readonly Pair<ToolRun>[]> {
  const shop = await openShop();
  const server = await TalkServer.start({ replyMs: REPLY_MS, toolUrl: shop.url });
  const turns = { seconds: plan.seconds, caller: turnCaller(), behaviour: 'turns' } as const;
  const once = async (tool: boolean): Promise<ToolRun> => {
    const before = shop.asked();
    const [fifty, result] = await Promise.all([
      runServer(server.line({ tool }), { ...turns, calls: plan.toolCalls }),
      runServer(server, { ...turns, calls: plan.calls }),
    ]);
    return { ...result, fifty, asked: shop.asked() - before };
  };
  try {
    return await pairedRuns({
      pairs: plan.pairs,
      a: () => once(true),
      b: () => once(false),
    });
  } finally {
    await server.stop();
    shop.close();
  }
}

/** The customer's server: takes its time for every answer. */
async function openShop() {
  let asked = 0;
  const server = createServer((_request, response) => {
    void sleep(TOOL_MS).then(() => {
      asked += 1;
      response.end('It ships on Friday.');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/orders`,
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function figuresOf(runs: readonly TurnRun[]): Row {
  const replies = runs.flatMap((one) => one.replies);
  return {
    turns: replies.length,
    missed: runs.reduce((sum, one) => sum + one.missed, 0),
    'reply p50 ms': percentile(replies, 50),
    'reply p95 ms': percentile(replies, 95),
    'packets late p99 ms': Math.max(...runs.map((one) => one.packetsLateP99Ms)),
  };
}

if (import.meta.main) await run(process.argv.slice(2));
