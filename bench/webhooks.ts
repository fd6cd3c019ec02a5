/** Row 12, webhooks: how soon events reach receivers, also while one endpoint hangs, and what a kill costs. */
import {
  checkTargets,
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
import { runKilled, runWebhooks, type WebhookLoad, type WebhookRun } from './lib/webhook-run.ts';

/** `npm run bench -- webhooks [--events 20000] [--endpoints 50] [--pairs 5] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const size = {
    events: numberArg(args, 'events', 20_000),
    endpoints: numberArg(args, 'endpoints', 50),
    pairs: numberArg(args, 'pairs', 5),
  };
  const delay = await compareDelays(size);
  console.log(markdownTable(delay.rows));
  const backlog = await runWebhooks({ ...size, mode: 'backlog', hasHanging: true });
  printJson({ bench: 'webhooks', backlog: true, ...backlog });
  const killed = await runKilled(size.events, size.endpoints);
  printJson({ bench: 'webhooks', ...killed });
  checkTargets(args, [
    ...delay.targets,
    { name: 'events lost by a kill', value: killed.lost, limit: 0, tolerance: 0 },
    {
      name: 'requests repeated after a kill, %',
      value: killed.againPercent,
      limit: 4,
      tolerance: 0,
    },
  ]);
}

interface Size {
  readonly events: number;
  readonly endpoints: number;
  readonly pairs: number;
}

/** Events that happen at a steady pace, with an endpoint that hangs and without. */
async function compareDelays(size: Size): Promise<{ rows: Row[]; targets: Target[] }> {
  const load: WebhookLoad = {
    mode: 'paced',
    events: Math.min(size.events, PACED_EVENTS),
    endpoints: size.endpoints,
    hasHanging: true,
  };
  const pairs = await pairedRuns({
    pairs: size.pairs,
    a: () => runWebhooks(load),
    b: () => runWebhooks({ ...load, hasHanging: false }),
  });
  for (const pair of pairs) printJson({ bench: 'webhooks', paced: true, ...pair });
  const rows = [
    delayRow('one hangs', pairs, ({ a }) => a),
    delayRow('none hangs', pairs, ({ b }) => b),
  ];
  const p50 = median(pairs, ({ a }) => a.p50);
  const p99 = ratios(pairs, ({ p99: ms }) => ms).median;
  const targets = [
    { name: 'event to receiver, p50 ms', value: p50, limit: 20, tolerance: 0.1 },
    { name: 'p99 of the others when one hangs', value: p99, limit: 1.5, tolerance: 0.1 },
  ];
  return { rows, targets };
}

const PACED_EVENTS = 1000;

function delayRow(
  name: string,
  pairs: readonly Pair<WebhookRun>[],
  pick: (pair: Pair<WebhookRun>) => WebhookRun,
): Row {
  return {
    endpoints: name,
    'event to receiver, p50 ms': median(pairs, (pair) => pick(pair).p50),
    'p99 ms': median(pairs, (pair) => pick(pair).p99),
  };
}

function median(
  pairs: readonly Pair<WebhookRun>[],
  pick: (pair: Pair<WebhookRun>) => number,
): number {
  return percentile(pairs.map(pick), 50);
}

if (import.meta.main) await run(process.argv.slice(2));
