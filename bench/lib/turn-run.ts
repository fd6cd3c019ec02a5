/** One run of callers that take turns with an agent: the whole server, or an ideal one. */
import { readFileSync } from 'node:fs';
import { cpuSecondsOf } from './harness.ts';
import type { Command } from './line-process.ts';
import { LineProcess } from './line-process.ts';
import { buildNativeTool } from './native-tool.ts';
import { nodeTool } from './rtp-run.ts';
import type { TalkServer } from './talk-server.ts';

/** What the callers measured, all in milliseconds. */
interface CallerReport {
  /** From the last voiced packet of a turn to the first packet of the reply. */
  readonly replies: readonly number[];
  /** From the first voiced packet of an interruption to the last packet of the reply interrupted. */
  readonly stops: readonly number[];
  /** From the last voiced packet of a "mm-hm" to the packet with which the agent went on. */
  readonly resumes: readonly number[];
  /** Turns without a reply. */
  readonly missed: number;
  readonly noises: number;
  /** Noises of one or two packets for which the agent paused. */
  readonly noiseStops: number;
  readonly hums: number;
  /** Times when the agent did not go on after a "mm-hm". */
  readonly lostHums: number;
  /** Packets of a reply that had been silenced by an interruption. */
  readonly stale: number;
  /** Turns with a short pause in them, after which the caller went on. */
  readonly resumed: number;
  /** Replies to half a turn, or into the middle of one. */
  readonly wrong: number;
  readonly sent: number;
  /** Turns that do not count, because the caller itself was late. */
  readonly lateTurns: number;
  /** Packets of the agent's. */
  readonly packets: number;
  readonly lost: number;
  /** 99th percentile of how much later packets came than the earliest of their talk spurt. */
  readonly packetsLateP99Ms: number;
  /** When each call heard its first voice, the greeting's, since 1970; 0 where it heard none. */
  readonly voices: readonly number[];
  readonly cpuSeconds: number;
}

export interface TurnRun extends CallerReport {
  readonly calls: number;
  /** Of the server, per call, in percent of a core. */
  readonly cpuPercentPerCall: number;
  /** How much of the time the server's main thread was ready to run and no core was free, in percent. */
  readonly waitPercent: number;
  /** Of the callers, in percent of a core; above 70 the run says nothing. */
  readonly callerCpuPercent: number;
}

export interface TurnPlan {
  readonly caller: Command;
  readonly calls: number;
  readonly seconds: number;
  readonly behaviour: 'turns' | 'interrupts' | 'resumes';
  /** How long calls talk before anything is measured; 2.5 unless given: time for every call to have a turn. */
  readonly warmSeconds?: number;
}

const WARM_S = 2.5;

/** The callers in C where they can be built, else those in Node. */
export function turnCaller(): Command {
  const program = buildNativeTool('turn-caller');
  return program === undefined ? nodeTool('turn-caller') : [program];
}

/** The ideal agent, likewise. */
export function turnAgent(): Command {
  const program = buildNativeTool('turn-agent');
  return program === undefined ? nodeTool('turn-agent') : [program];
}

/** Further load while the calls are up. */
export interface SideLoad {
  /** Called when the measured time begins. */
  readonly onBegin?: () => void;
  /** Awaited after it, before the calls hang up. */
  readonly whileUp?: () => Promise<void>;
}

/**
 * Calls a server that is running, and hangs up afterwards.
 *
 * @throws {CallRefusedError} when it does not take them all.
 */
export async function runServer(
  server: TalkServer,
  plan: TurnPlan,
  { onBegin, whileUp }: SideLoad = {},
): Promise<TurnRun> {
  try {
    const turns = await run(plan, server.pid, {
      connect: async (ports) => (await server.call(ports.split(' ').map(Number))).join(' '),
      onBegin,
    });
    await whileUp?.();
    return turns;
  } finally {
    await server.hangUp();
  }
}

/** Runs an agent that is nothing but a program. */
export async function runAgent(
  [program, ...args]: Command,
  options: { readonly mode: 'aligned' | 'grid'; readonly replyMs: number; readonly plan: TurnPlan },
): Promise<TurnRun> {
  const { mode, replyMs, plan } = options;
  const agent = new LineProcess([program, ...args, String(plan.calls), mode, String(replyMs)]);
  try {
    return await run(plan, agent.pid, {
      connect: (ports) => {
        agent.say(ports);
        return agent.next('ports');
      },
    });
  } finally {
    await agent.end();
  }
}

async function run(
  { caller: [program, ...args], calls, seconds, behaviour, warmSeconds = WARM_S }: TurnPlan,
  serverPid: number,
  agent: {
    readonly connect: (ports: string) => Promise<string>;
    readonly onBegin?: (() => void) | undefined;
  },
): Promise<TurnRun> {
  const times = [calls, warmSeconds, seconds].map(String);
  const caller = new LineProcess([program, ...args, ...times, behaviour]);
  try {
    caller.say(await agent.connect(await caller.next('ports')));
    await caller.next('begin');
    agent.onBegin?.();
    const [before, waitedMs] = [cpuSecondsOf(serverPid), waitMsOf(serverPid)];
    const startedMs = performance.now();
    await caller.next('end');
    const cpuSeconds = cpuSecondsOf(serverPid) - before;
    const wallMs = performance.now() - startedMs;
    const waitPercent = ((waitMsOf(serverPid) - waitedMs) * 100) / wallMs;
    const report: CallerReport = JSON.parse(await caller.next(''));
    return {
      ...report,
      calls,
      cpuPercentPerCall: (cpuSeconds * 1e5) / wallMs / calls,
      waitPercent,
      callerCpuPercent: (report.cpuSeconds * 1e5) / (wallMs + warmSeconds * 1000),
    };
  } finally {
    await caller.end();
  }
}

function waitMsOf(pid: number): number {
  const [, ns = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ns) / 1e6;
}
