/** One run of a media benchmark: a server with N calls, a caller that measures it, and the server's CPU time. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf, type Pair, pairedRuns } from './harness.ts';
import { type Command, LineProcess } from './line-process.ts';
import { buildNativeTool, isInstalled } from './native-tool.ts';
import { START_FLAGS } from './start-flags.ts';

export interface RtpRun {
  readonly calls: number;
  /** Packets of the caller, and those that came back to it. */
  readonly sent: number;
  readonly received: number;
  /** Of the server, per call, in percent of a core. */
  readonly cpuPercentPerCall: number;
  readonly lost: number;
  /** Calls that nothing came back on. */
  readonly silent: number;
  /** Lateness of packets against the earliest of their stream, in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** How the server's clock runs, in ms a second. */
  readonly drift: number;
  /** Of the caller, in percent of a core; above 70 the run says nothing. */
  readonly callerCpuPercent: number;
}

interface CallerReport {
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  readonly silent: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly drift: number;
  readonly cpuSeconds: number;
}

/** Long enough for the compiler of a young process to have done its work. */
const WARM_S = 3;

/** A caller busier than this may itself be what is late or slow. */
const CALLER_CPU_PERCENT_MAX = 70;

/** The caller in C where it can be built, else the one in Node. */
export function callerCommand(): Command {
  const program = buildNativeTool('rtp-caller');
  return program === undefined ? nodeTool('rtp-caller') : [program];
}

export function nodeTool(name: string): Command {
  return [process.execPath, fileURLToPath(new URL(`../tools/${name}.ts`, import.meta.url))];
}

/** Our media engine, as `npm start` runs it. */
export function engineCommand(): Command {
  const [node = process.execPath, ...tool] = nodeTool('rtp-engine');
  return [node, ...START_FLAGS, ...tool];
}

/** A server that sent less than this share of what was due had no processor to run on: its cost says nothing. */
const CARRIED_MIN = 0.95;

/** Runs pairs as the harness does; void too when a caller was too busy, or a server starved. */
export async function pairedRtpRuns(
  options: Parameters<typeof pairedRuns<RtpRun>>[0],
): Promise<readonly Pair<RtpRun>[]> {
  const pairs = await pairedRuns(options);
  return pairs.map((pair) => {
    const isVoid = pair.isVoid || [pair.a, pair.b].some(isUnusable);
    return { ...pair, isVoid };
  });
}

function isUnusable(run: RtpRun): boolean {
  return run.callerCpuPercent > CALLER_CPU_PERCENT_MAX || run.received < run.sent * CARRIED_MIN;
}

/** A core for each, as the caller of a real network has one of its own. */
const SERVER_CORE = 0;
const CALLER_CORE = 1;

/**
 * A command that runs on one core alone.
 *
 * Left to itself the system moves some servers onto their caller's core and some not, from run to run, and waking a
 * program on another core costs more than on one's own: that is up to a fifth of the CPU time, and says nothing of the server.
 *
 * @returns it as it is on a machine of one core, or without `taskset`.
 */
function onCore(core: number, command: Command): Command {
  const canPin = availableParallelism() > 1 && isInstalled('taskset');
  return canPin ? ['taskset', '--cpu-list', String(core), ...command] : command;
}

/** Runs `server` with so many calls for so long. */
export async function runRtp(options: {
  readonly server: Command;
  readonly caller: Command;
  readonly calls: number;
  readonly seconds: number;
  readonly serverArgs?: readonly string[];
  /** What the caller sends: payload type, clock and payload in hexadecimal; PCMU when not given. */
  readonly callerArgs?: readonly string[];
  /** Sessions that share the CPU time; `calls` when not given. */
  readonly counted?: number;
  /** The server tells first, as `pid N`, whose CPU time counts. */
  readonly isPidTold?: boolean;
  /** Server and caller have a core each, and their threads no other; without, the system places them. */
  readonly hasCoreEach?: boolean;
  /** What runs before anything counts. */
  readonly warmSeconds?: number;
}): Promise<RtpRun> {
  const { calls, seconds, hasCoreEach = false, warmSeconds = WARM_S } = options;
  const place = (core: number, command: Command) => (hasCoreEach ? onCore(core, command) : command);
  const callerArgs = [...[calls, warmSeconds, seconds].map(String), ...(options.callerArgs ?? [])];
  const caller = new LineProcess(place(CALLER_CORE, [...options.caller, ...callerArgs]));
  const serverArgs = [String(calls), ...(options.serverArgs ?? [])];
  const server = new LineProcess(place(SERVER_CORE, [...options.server, ...serverArgs]));
  try {
    server.say(await caller.next('ports'));
    const serverPid = options.isPidTold === true ? Number(await server.next('pid')) : server.pid;
    caller.say(await server.next('ports'));
    await caller.next('begin');
    const [before, startedMs] = [cpuSecondsOf(serverPid), performance.now()];
    await caller.next('end');
    const cpuSeconds = cpuSecondsOf(serverPid) - before;
    const wallSeconds = (performance.now() - startedMs) / 1000;
    const report: CallerReport = JSON.parse(await caller.next(''));
    return {
      ...report,
      calls,
      cpuPercentPerCall: (cpuSeconds * 100) / wallSeconds / (options.counted ?? calls),
      callerCpuPercent: (report.cpuSeconds * 100) / (wallSeconds + warmSeconds),
    };
  } finally {
    await Promise.all([caller.end(), server.end()]);
  }
}
