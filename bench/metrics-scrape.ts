/** Row 18, metrics-scrape: scrape time of `/metrics` during 200 calls, and its effect on their packets. */
import { freePort } from '../test/support/network/free-ports.ts';
import {
  checkTargets,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  percentile,
  printJson,
  type Row,
  type Target,
} from './lib/harness.ts';
import { mayRunRealTime } from './lib/real-time.ts';
import { callerCommand, nodeTool, pairedRtpRuns, type RtpRun, runRtp } from './lib/rtp-run.ts';

/** Far more often than in production, so that every run has several scrapes. */
const SCRAPE_EVERY_MS = 250;

/** Beyond this, packets and scrapes are late for other reasons. */
const LOAD_MAX = 4;

interface Scraped extends RtpRun {
  /** What each scrape took the server. */
  readonly renderMs: readonly number[];
  /** From the request to its last byte, on the side that asks. */
  readonly scrapeMs: readonly number[];
  readonly scrapeBytes: number;
}

/** `npm run bench -- metrics-scrape [--calls 200] [--pairs 5] [--seconds 4] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const load = { calls: numberArg(args, 'calls', 200), seconds: numberArg(args, 'seconds', 4) };
  const priority = mayRunRealTime() ? 'rt' : 'plain';
  const pairs = (await pairedRtpRuns({
    pairs: numberArg(args, 'pairs', 5),
    a: () => runWithScrapes({ ...load, priority, isScraped: true }),
    b: () => runWithScrapes({ ...load, priority, isScraped: false }),
  })) as readonly Pair<Scraped>[];
  for (const pair of pairs) printJson({ bench: 'metrics-scrape', priority, ...pair });
  const counted = pairs.filter(({ isVoid }) => !isVoid);
  const scrapes = pairs.flatMap(({ a }) => a.renderMs);
  const deltas = counted.map(({ a, b }) => a.p99 - b.p99);
  console.log(markdownTable([rowOf('scraped', counted, 'a'), rowOf('not scraped', counted, 'b')]));
  console.log(`${scrapes.length} scrapes of ${pairs[0]?.a.scrapeBytes ?? 0} bytes, ${priority}`);
  checkTargets(args, targetsOf({ scrapes, deltas, pairs }));
}

async function runWithScrapes(options: {
  readonly calls: number;
  readonly seconds: number;
  readonly priority: string;
  readonly isScraped: boolean;
}): Promise<Scraped> {
  const port = await freePort();
  const scraper = new Scraper(`http://127.0.0.1:${port}/metrics`);
  if (options.isScraped) scraper.start();
  try {
    const result = await runRtp({
      calls: options.calls,
      seconds: options.seconds,
      caller: callerCommand(),
      server: nodeTool('rest-scrape'),
      serverArgs: [options.priority, String(port)],
    });
    const { renderMs, scrapeMs, scrapeBytes } = scraper;
    return { ...result, renderMs, scrapeMs, scrapeBytes };
  } finally {
    scraper.stop();
  }
}

/** Asks again and again, from before the port is open until it is closed. */
class Scraper {
  readonly #url: string;
  readonly renderMs: number[] = [];
  readonly scrapeMs: number[] = [];
  scrapeBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#scrape(), SCRAPE_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #scrape(): Promise<void> {
    const startedMs = performance.now();
    try {
      const response = await fetch(this.#url);
      this.scrapeBytes = (await response.text()).length;
      this.scrapeMs.push(performance.now() - startedMs);
      this.renderMs.push(Number(response.headers.get('Server-Timing')?.split('=')[1]));
    } catch {
      // The server is not there yet, or has gone: neither is a scrape.
    }
  }
}

function rowOf(who: string, pairs: readonly Pair<Scraped>[], side: 'a' | 'b'): Row {
  const middle = (pick: (run: Scraped) => number) => middleOf(pairs, side, pick);
  return {
    who,
    'p50 ms': middle(({ p50 }) => p50),
    'p99 ms': middle(({ p99 }) => p99),
    'p99.9 ms': middle(({ p999 }) => p999),
    'render p50 ms': middle(({ renderMs }) => percentile(renderMs, 50)),
    'scrape p50 ms': middle(({ scrapeMs }) => percentile(scrapeMs, 50)),
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
}

function targetsOf(found: {
  readonly scrapes: readonly number[];
  readonly deltas: readonly number[];
  readonly pairs: readonly Pair<Scraped>[];
}): readonly Target[] {
  const { scrapes, deltas, pairs } = found;
  const load = Math.max(...pairs.map(({ machine }) => machine.load));
  if (load > LOAD_MAX) {
    console.log(`not judged: at load ${load.toFixed(1)} (over ${LOAD_MAX})`);
    return [];
  }
  return [
    { name: 'scrape p50 ms', value: percentile(scrapes, 50), limit: 5, tolerance: 0.2 },
    { name: 'RTP p99 later by ms', value: percentile(deltas, 50), limit: 0.3, tolerance: 0.2 },
  ];
}

if (import.meta.main) await run(process.argv.slice(2));
