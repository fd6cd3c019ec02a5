/** Row 11, rest, with calls: effect of API requests on the packets of 100 calls. */
import { copyFileSync } from 'node:fs';
import { freePort } from '../test/support/network/free-ports.ts';
import { makeCallHistory } from './lib/call-history.ts';
import {
  checkTargets,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  percentile,
  printJson,
  type Row,
} from './lib/harness.ts';
import { mayRunRealTime } from './lib/real-time.ts';
import { sendAll } from './lib/rest-caller.ts';
import { REQUESTS } from './lib/rest-requests.ts';
import { addRestRecords } from './lib/rest-world.ts';
import { callerCommand, nodeTool, pairedRtpRuns, type RtpRun, runRtp } from './lib/rtp-run.ts';

/** Of each kind of reading request at a time: 240 a second in all, eighty times what the largest plan allows. */
const BURST_REQUESTS = 5;
const BURST_EVERY_MS = 83;

/** Beyond this, packets are late for other reasons. */
const LOAD_MAX = 4;

const READS = REQUESTS.filter(({ method, status }) => method === 'GET' && status === 200);

interface Asked extends RtpRun {
  readonly requests: number;
}

/** `npm run bench -- rest-calls [--calls 100] [--pairs 5] [--seconds 4] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const load = { calls: numberArg(args, 'calls', 100), seconds: numberArg(args, 'seconds', 4) };
  const priority = mayRunRealTime() ? 'rt' : 'plain';
  const history = await makeCallHistory({ calls: 1000, days: 30 });
  try {
    await addRestRecords(history.file);
    const options = { ...load, priority, records: history.file };
    const pairs = (await pairedRtpRuns({
      pairs: numberArg(args, 'pairs', 5),
      a: () => runWithRequests({ ...options, isAsked: true }),
      b: () => runWithRequests({ ...options, isAsked: false }),
    })) as readonly Pair<Asked>[];
    for (const pair of pairs) printJson({ bench: 'rest-calls', priority, ...pair });
    report(args, pairs);
  } finally {
    history.remove();
  }
}

async function runWithRequests(options: {
  readonly calls: number;
  readonly seconds: number;
  readonly priority: string;
  readonly records: string;
  readonly isAsked: boolean;
}): Promise<Asked> {
  const port = await freePort();
  const file = `${options.records}.calls`;
  copyFileSync(options.records, file);
  const asking = options.isAsked ? ask(port) : undefined;
  const result = await runRtp({
    calls: options.calls,
    seconds: options.seconds,
    caller: callerCommand(),
    server: nodeTool('rest-calls'),
    serverArgs: [options.priority, file, String(port)],
  });
  return { ...result, requests: asking?.stop() ?? 0 };
}

/** Asks again and again, one burst at a time, from before the port is open until it is closed. */
function ask(port: number): { stop(): number } {
  let requests = 0;
  let isAsking = false;
  const burst = async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      for (const request of READS) {
        await sendAll(port, request, BURST_REQUESTS);
        requests += BURST_REQUESTS;
      }
    } catch {
      // The server is not there yet, or has gone.
    }
    isAsking = false;
  };
  const timer = setInterval(() => void burst(), BURST_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return requests;
    },
  };
}

function report(args: readonly string[], pairs: readonly Pair<Asked>[]): void {
  const counted = pairs.filter(({ isVoid }) => !isVoid);
  console.log(markdownTable([rowOf('asked', counted, 'a'), rowOf('not asked', counted, 'b')]));
  const load = Math.max(...pairs.map(({ machine }) => machine.load));
  if (load > LOAD_MAX) {
    console.log(`not judged: at load ${load.toFixed(1)} (over ${LOAD_MAX})`);
    return;
  }
  const deltas = counted.map(({ a, b }) => a.p99 - b.p99);
  const value = percentile(deltas, 50);
  checkTargets(args, [{ name: 'RTP p99 later by ms', value, limit: 1, tolerance: 0 }]);
}

function rowOf(who: string, pairs: readonly Pair<Asked>[], side: 'a' | 'b'): Row {
  const middle = (pick: (run: Asked) => number) => middleOf(pairs, side, pick);
  return {
    who,
    'p50 ms': middle(({ p50 }) => p50),
    'p99 ms': middle(({ p99 }) => p99),
    'p99.9 ms': middle(({ p999 }) => p999),
    requests: middle(({ requests }) => requests),
  };
}

if (import.meta.main) await run(process.argv.slice(2));
