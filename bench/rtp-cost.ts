/**
 * Row 4, rtp-cost: CPU of two-way PCMU calls on our media engine, against a wheel in C and against rtpengine in userspace (its
 * kernel module is not used); then of calls with G.722 and with Opus, against our PCMU and against rtpengine that transcodes; then of
 * calls with SRTP, against our plain RTP and against rtpengine that decrypts.
 */
import { type CodecRun, codecRuns } from './lib/codec-runs.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  type Pair,
  percentile,
  printJson,
  type Row,
  ratios,
  type Target,
} from './lib/harness.ts';
import type { Command } from './lib/line-process.ts';
import { buildNativeTool, isInstalled } from './lib/native-tool.ts';
import {
  callerCommand,
  engineCommand,
  nodeTool,
  pairedRtpRuns,
  type RtpRun,
  runRtp,
} from './lib/rtp-run.ts';
import { srtpRuns } from './lib/srtp-runs.ts';

interface Peer {
  readonly name: string;
  readonly command: Command;
  /** Most that we may cost over it, and from how many calls on. */
  readonly limit: number;
  readonly fromCalls: number;
  readonly isPidTold?: boolean;
}

/** Without its kernel module, which forwards packets at a fraction of this cost and needs root: what `--table=-1` says. */
const RTPENGINE = 'rtpengine in userspace';

/** Warm-up in seconds, in which the engine's code is compiled. */
const WARM_S = 8;

/** `npm run bench -- rtp-cost [--calls 500] [--codec-calls 100] [--srtp-calls 50] [--pairs 5] [--seconds 6] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const caller = callerCommand();
  const peers = findPeers();
  const calls = numberArg(args, 'calls', 500);
  const rows: Row[] = [];
  const targets: Target[] = [];
  for (const peer of peers) {
    const { row, ratio, lost } = await compare(peer, { caller, calls, args });
    rows.push(row);
    const name = `${calls} calls, against ${peer.name}`;
    targets.push({ name: `packets lost, ${name}`, value: lost, limit: 0, tolerance: 0 });
    if (calls < peer.fromCalls) continue;
    targets.push({ name: `CPU ratio, ${name}`, value: ratio, limit: peer.limit, tolerance: 0.1 });
  }
  console.log(markdownTable(rows));
  const codecs = await codecRuns(numberArg(args, 'codec-calls', 100));
  // Fewer: the caller in Node, which seals its packets, has one core.
  const secure = srtpRuns(numberArg(args, 'srtp-calls', 50));
  console.log(markdownTable(await compareCodecs([...codecs, ...secure], { caller, args })));
  checkTargets(args, targets);
}

function findPeers(): readonly Peer[] {
  const wheel = buildNativeTool('rtp-wheel');
  const peers: Peer[] = [];
  if (wheel !== undefined) {
    peers.push({ name: 'C wheel', command: [wheel], limit: 1.5, fromCalls: 500 });
  }
  if (isInstalled('rtpengine')) {
    const command = nodeTool('rtp-rtpengine');
    peers.push({ name: RTPENGINE, command, limit: 0.75, fromCalls: 300, isPidTold: true });
  } else {
    console.log(`peer missing: ${RTPENGINE} (Debian: rtpengine-daemon)`);
  }
  if (peers.length > 0) return peers;
  return [{ name: 'raw Node', command: nodeTool('rtp-interval'), limit: 3, fromCalls: 500 }];
}

async function compare(
  peer: Peer,
  options: { readonly caller: Command; readonly calls: number; readonly args: readonly string[] },
) {
  const { caller, calls, args } = options;
  const seconds = numberArg(args, 'seconds', 6);
  const load = { caller, calls, seconds, hasCoreEach: true, warmSeconds: WARM_S };
  const ours = engineCommand();
  const pairs = await pairedRtpRuns({
    pairs: numberArg(args, 'pairs', 5),
    a: () => runRtp({ ...load, server: ours, serverArgs: ['plain'] }),
    b: () => runRtp({ ...load, server: peer.command, isPidTold: peer.isPidTold === true }),
  });
  for (const pair of pairs) printJson({ bench: 'rtp-cost', peer: peer.name, ...pair });
  return costOf(pairs, { calls, peer: peer.name });
}

/** Calls for each of our codecs besides G.711, and with SRTP, without a target: what they cost is the codec's and the cipher's affair. */
async function compareCodecs(
  runs: readonly CodecRun[],
  { caller, args }: { readonly caller: Command; readonly args: readonly string[] },
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { codec, peer, ours, theirs } of runs) {
    const load = { caller, seconds: numberArg(args, 'seconds', 6), hasCoreEach: true };
    const pairs = await pairedRtpRuns({
      pairs: Math.min(2, numberArg(args, 'pairs', 5)),
      a: () => runRtp({ ...load, ...ours, warmSeconds: WARM_S }),
      b: () => runRtp({ ...load, ...theirs, warmSeconds: WARM_S }),
    });
    for (const pair of pairs) printJson({ bench: 'rtp-cost', codec, peer, ...pair });
    rows.push({ codec, ...costOf(pairs, { calls: ours.calls, peer }).row });
  }
  return rows;
}

function costOf(
  pairs: readonly Pair<RtpRun>[],
  { calls, peer }: { readonly calls: number; readonly peer: string },
) {
  const ratio = ratios(pairs, ({ cpuPercentPerCall }) => cpuPercentPerCall);
  const lost = pairs.reduce((sum, { a }) => sum + a.lost + a.silent, 0);
  const row = {
    calls,
    peer,
    'ours, % of a core a call': percentile(
      pairs.map(({ a }) => a.cpuPercentPerCall),
      50,
    ),
    'peer, % of a core a call': percentile(
      pairs.map(({ b }) => b.cpuPercentPerCall),
      50,
    ),
    'ours / peer': ratio.median,
    'least to greatest': `${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}`,
    'pairs that counted': `${ratio.pairs} of ${pairs.length}`,
    'lost by us': lost,
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
  return { row, ratio: ratio.median, lost };
}

if (import.meta.main) await run(process.argv.slice(2));
