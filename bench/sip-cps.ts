/** Row 9, sip-cps: CPU, failures and delay of whole SIP calls, on our engine and on sipp's own server. */
import { fileURLToPath } from 'node:url';
import type { Row, Target } from './lib/harness.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
} from './lib/harness.ts';
import { isInstalled } from './lib/native-tool.ts';
import type { SipServer } from './lib/sip-servers.ts';
import { startCallControl, startEngine, startSippServer } from './lib/sip-servers.ts';
import type { SippResult } from './lib/sipp-run.ts';
import { runSipp } from './lib/sipp-run.ts';

/** What stands behind the port that is called; more of them may be measured against the same peer. */
interface Subject {
  readonly name: string;
  readonly start: () => Promise<SipServer>;
  readonly rates: readonly number[];
  /** Most CPU that a call may cost, as a multiple of the peer's. */
  readonly cpuRatioMax?: number;
}

const SUBJECTS: readonly Subject[] = [
  { name: 'engine', start: startEngine, rates: [200, 500, 1000, 3000], cpuRatioMax: 2.5 },
  { name: 'through drachtio-srf', start: startCallControl, rates: [200, 500, 1000] },
];

/** What must merely work: no peer, only failures count. */
const FLOWS = [
  { name: 'udp 20/s', extra: [], callsPerSecond: 20, calls: 200, scenario: 'uac' },
  { name: 'tcp 20/s', extra: ['-t', 't1'], callsPerSecond: 20, calls: 200, scenario: 'uac' },
  { name: 'udp 5 % lost', extra: ['-lost', '5'], callsPerSecond: 20, calls: 200, scenario: 'uac' },
  { name: 'udp 200/s', extra: [], callsPerSecond: 200, calls: 1000, scenario: 'uac' },
  { name: 'cancel', extra: ['-s', 'ring'], callsPerSecond: 200, calls: 1000, scenario: 'cancel' },
] as const;

const GENERATOR_PERCENT_MAX = 70;
/** The compiler of V8 is at work until then: in the first 4,000 calls it optimises 70 functions, in the next 4,000 few. */
const WARM_UP_CALLS = 10_000;

interface Figures extends SippResult {
  readonly cpuUsPerCall: number;
}

/** `npm run bench -- sip-cps [--rate N] [--seconds 3] [--pairs 3] [--gate]`; without `--rate`: each subject's own. */
export async function run(args: readonly string[]): Promise<void> {
  if (!isInstalled('sipp')) {
    console.log('peer missing: sipp (Debian: sip-tester); no SIP peer without it');
    return;
  }
  const rows: Row[] = [];
  const targets: Target[] = [];
  for (const subject of SUBJECTS) {
    const server = await subject.start();
    const peer = await startSippServer();
    try {
      await warmUp(server);
      for (const rate of ratesOf(subject, args)) {
        const { row, found } = await compare({ subject, server, peer, rate, args });
        rows.push(row);
        targets.push(...found);
      }
      targets.push(...(await checkFlows(subject, server)));
    } finally {
      await Promise.all([server.stop(), peer.stop()]);
    }
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

function ratesOf({ rates }: Subject, args: readonly string[]): readonly number[] {
  const asked = numberArg(args, 'rate', 0);
  return asked > 0 ? [asked] : rates;
}

/** Code that has run a few times only is slower than what a server of some days runs. */
async function warmUp(server: SipServer): Promise<void> {
  await callServer(server, { callsPerSecond: 500, calls: WARM_UP_CALLS });
}

async function compare(options: {
  readonly subject: Subject;
  readonly server: SipServer;
  readonly peer: SipServer;
  readonly rate: number;
  readonly args: readonly string[];
}): Promise<{ row: Row; found: readonly Target[] }> {
  const { subject, server, peer, rate, args } = options;
  const load = { callsPerSecond: rate, calls: rate * numberArg(args, 'seconds', 3) };
  const runs = await pairedRuns<Figures>({
    pairs: numberArg(args, 'pairs', 3),
    a: () => callServer(server, load),
    b: () => callServer(peer, load),
  });
  // A generator at its limit measures itself.
  const pairs = runs.map((pair) => ({ ...pair, isVoid: pair.isVoid || isOverdriven(pair.a) }));
  for (const pair of pairs) printJson({ bench: 'sip-cps', subject: subject.name, rate, ...pair });

  const cpu = ratios(pairs, ({ cpuUsPerCall }) => cpuUsPerCall);
  const failed = pairs.reduce((sum, { a }) => sum + a.failed, 0);
  const p99Ms = medianRinging(pairs.map(({ a }) => a));
  const row = {
    subject: subject.name,
    'calls/s': rate,
    pairs: cpu.pairs,
    'CPU µs/call': medianCpu(pairs.map(({ a }) => a)),
    'sipp µs/call': medianCpu(pairs.map(({ b }) => b)),
    'CPU ratio': cpu.median,
    min: cpu.min,
    max: cpu.max,
    failed,
    'INVITE→180 p99 ms': p99Ms,
    'sipp p99 ms': medianRinging(pairs.map(({ b }) => b)),
  };
  const name = (what: string) => `${subject.name}, ${rate}/s: ${what}`;
  const found: Target[] = [
    { name: name('failed calls'), value: failed, limit: 0, tolerance: 0 },
    { name: name('INVITE→180 p99 ms'), value: p99Ms, limit: 5, tolerance: 0.1 },
  ];
  if (subject.cpuRatioMax !== undefined) {
    const limit = subject.cpuRatioMax;
    found.push({ name: name('CPU against sipp'), value: cpu.median, limit, tolerance: 0.1 });
  }
  return { row, found };
}

async function checkFlows(subject: Subject, server: SipServer): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const { name, calls, callsPerSecond, extra, scenario } of FLOWS) {
    const chosen = scenario === 'uac' ? ['-sn', 'uac'] : ['-sf', scenarioFile(scenario)];
    const load = { port: server.port, calls, callsPerSecond, extra };
    const result = await runSipp({ ...load, scenario: chosen });
    printJson({ bench: 'sip-cps', subject: subject.name, flow: name, ...result });
    const value = calls - result.successful;
    targets.push({ name: `${subject.name}, ${name}: calls lost`, value, limit: 0, tolerance: 0 });
  }
  return targets;
}

async function callServer(
  server: SipServer,
  load: { readonly callsPerSecond: number; readonly calls: number },
): Promise<Figures> {
  const before = server.cpuSeconds();
  const scenario = ['-sf', scenarioFile('call')];
  const result = await runSipp({ port: server.port, scenario, ...load });
  const cpuUsPerCall = ((server.cpuSeconds() - before) * 1e6) / load.calls;
  return { ...result, cpuUsPerCall };
}

function scenarioFile(name: string): string {
  return fileURLToPath(new URL(`./tools/sipp-${name}.xml`, import.meta.url));
}

function isOverdriven({ generatorCpuPercent }: Figures): boolean {
  return generatorCpuPercent > GENERATOR_PERCENT_MAX;
}

function medianRinging(runs: readonly Figures[]): number {
  return percentile(
    runs.map(({ ringingP99Ms }) => ringingP99Ms),
    50,
  );
}

function medianCpu(runs: readonly Figures[]): number {
  return percentile(
    runs.map(({ cpuUsPerCall }) => cpuUsPerCall),
    50,
  );
}
