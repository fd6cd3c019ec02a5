/** One number of calls at a time: what a server spends on them, and what keeps it from more. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Phone } from '../../examples/phone/phone.ts';
import { callUntilVoice } from './first-voice.ts';
import { percentile, type Row } from './harness.ts';
import type { Command } from './line-process.ts';
import type { TalkServer } from './talk-server.ts';
import { runServer, type TurnRun } from './turn-run.ts';

const LATE_MS_MAX = 10;
const FIRST_AUDIO_MS_MAX = 20;
const CALLER_PERCENT_MAX = 70;
/** A main thread that waits for its core for longer than this shares it with the callers. */
const WAIT_PERCENT_MAX = 10;

/** Between two calls of those who ring while the others talk. */
const RING_EVERY_MS = 250;

/** Until the timers of SIP (32 s) and the ports of calls that are over (30 s) are gone. */
const REST_MS = 34_000;

/** A full collection holds the server up for so long that admission control refuses calls for some seconds. */
const RECOVERY_MS = 8000;

export interface Step extends TurnRun {
  /** From the ACK to the greeting's first packet, of those who ring while the others talk. */
  readonly firstAudioP95Ms: number;
  /** How many of them were refused or heard no greeting. */
  readonly silent: number;
  /** Why there is no step after this one; undefined when there is. */
  readonly limit: string | undefined;
  /** The limit is the machine's: the step says nothing of the server. */
  readonly isVoid: boolean;
}

/** Whom the calls are between. */
export interface Parties {
  readonly server: TalkServer;
  /** Many, who talk. */
  readonly caller: Command;
  /** One, who rings meanwhile. */
  readonly phone: Phone;
}

/**
 * Has so many calls talk for so long.
 *
 * @throws {CallRefusedError} when the server does not take them all.
 */
export async function takeStep(
  { server, caller, phone }: Parties,
  { calls, seconds }: { readonly calls: number; readonly seconds: number },
): Promise<Step> {
  let greetings: Promise<readonly number[]> = Promise.resolve([]);
  const turns = await runServer(
    server,
    { caller, calls, seconds, behaviour: 'turns' },
    {
      onBegin: () => {
        greetings = ringFor(seconds * 1000, { phone, uri: server.uri });
      },
    },
  );
  const waitsMs = await greetings;
  const heardMs = waitsMs.filter((waitMs) => !Number.isNaN(waitMs));
  const silent = waitsMs.length - heardMs.length;
  const run = { ...turns, firstAudioP95Ms: percentile(heardMs, 95), silent };
  const [limit, machineLimit] = [limitOf(run), machineLimitOf(run)];
  // A server that holds its calls on a core that it shares would hold them on its own.
  const isVoid =
    run.callerCpuPercent > CALLER_PERCENT_MAX ||
    (limit !== undefined && machineLimit !== undefined);
  return { ...run, limit: isVoid ? machineLimit : limit, isVoid };
}

/** Rings again and again. @returns how long each waited for the greeting, in milliseconds; NaN where there was none. */
async function ringFor(
  forMs: number,
  { phone, uri }: { readonly phone: Phone; readonly uri: string },
): Promise<readonly number[]> {
  const untilMs = performance.now() + forMs;
  const waitsMs: number[] = [];
  while (performance.now() < untilMs) {
    const voiceMs = await callUntilVoice(phone, uri).then(
      (heard) => heard.voiceMs,
      () => Number.NaN,
    );
    waitsMs.push(voiceMs);
    await wait(RING_EVERY_MS);
  }
  return waitsMs;
}

/** What keeps the machine from carrying callers and server both. */
export function machineLimitOf({ callerCpuPercent, waitPercent }: TurnRun): string | undefined {
  if (callerCpuPercent > CALLER_PERCENT_MAX) return 'void: the callers are short of a processor';
  if (waitPercent > WAIT_PERCENT_MAX) return 'void: no core is free for the server';
  return undefined;
}

function limitOf(run: Omit<Step, 'limit' | 'isVoid'>): string | undefined {
  if (run.lost > 0) return 'packets are lost';
  if (run.packetsLateP99Ms > LATE_MS_MAX) return 'packets are late';
  if (run.silent > 0) return 'greetings are not heard';
  return run.firstAudioP95Ms > FIRST_AUDIO_MS_MAX ? 'greetings are late' : undefined;
}

export function rowOf(step: Step): Row {
  return {
    calls: step.calls,
    'CPU, % of a core a call': step.cpuPercentPerCall,
    'packets late p99 ms': step.packetsLateP99Ms,
    lost: step.lost,
    'ACK to voice p95 ms': step.firstAudioP95Ms,
    'turns without a reply': step.missed,
    'callers, % of a core': step.callerCpuPercent,
    'waited for a core, %': step.waitPercent,
    'ramp ends': step.limit ?? '',
  };
}

/**
 * What a call that talks holds, in MB: what the process holds with so many of them up, less what it holds without, garbage
 * left out both times. What is resident beyond that is the heap's room, which a server has whatever its calls.
 */
export async function memoryPerCall(
  { server, caller }: Pick<Parties, 'server' | 'caller'>,
  { calls, seconds }: { readonly calls: number; readonly seconds: number },
): Promise<number> {
  await wait(REST_MS);
  const idle = await server.holdings();
  await wait(RECOVERY_MS);
  let heldKb = Number.NaN;
  await runServer(
    server,
    { caller, calls, seconds, behaviour: 'turns' },
    {
      whileUp: async () => {
        heldKb = (await server.holdings()).heldKb;
      },
    },
  );
  return (heldKb - idle.heldKb) / 1024 / calls;
}
