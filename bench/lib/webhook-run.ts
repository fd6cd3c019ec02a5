/** One run of the webhook benchmark: a receiver, a sender, and the sender's CPU time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReceiverReport } from '../tools/webhook-receiver.ts';
import { cpuSecondsOf } from './harness.ts';
import { LineProcess } from './line-process.ts';
import { START_FLAGS } from './start-flags.ts';

/** `backlog` sends events that are there already, `paced` events that happen meanwhile. */
export type SenderMode = 'backlog' | 'paced';

export interface WebhookRun extends ReceiverReport {
  /** Of the sender. */
  readonly cpuUsPerRequest: number;
  readonly requestsPerSecond: number;
}

export interface WebhookLoad {
  readonly mode: SenderMode;
  readonly events: number;
  readonly endpoints: number;
  readonly hasHanging: boolean;
}

export async function runWebhooks(load: WebhookLoad): Promise<WebhookRun> {
  return withReceiver(async ({ receiver, start }) => {
    const sender = start(load);
    try {
      await sender.next('ready');
      receiver.say('reset');
      const before = cpuSecondsOf(sender.pid);
      const startedMs = performance.now();
      sender.say('go');
      const { answered }: { answered: number } = JSON.parse(await sender.next('done'));
      const seconds = (performance.now() - startedMs) / 1000;
      const cpuUsPerRequest = ((cpuSecondsOf(sender.pid) - before) * 1e6) / answered;
      const report = await reportOf(receiver);
      return { ...report, cpuUsPerRequest, requestsPerSecond: answered / seconds };
    } finally {
      await sender.end();
    }
  });
}

export interface KilledRun {
  /** Events that never came. */
  readonly lost: number;
  /** Requests beyond the first that was not answered 500, in percent of all. */
  readonly againPercent: number;
}

/** Kills our sender in the middle of its work, and lets another one do the rest. */
export async function runKilled(events: number, endpoints: number): Promise<KilledRun> {
  const load = { events, endpoints, hasHanging: false };
  return withReceiver(async ({ receiver, start }) => {
    const killed = start({ ...load, mode: 'backlog' });
    await killed.next('ready');
    receiver.say('reset');
    killed.say('go');
    while ((await reportOf(receiver)).events < events / 2) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    process.kill(killed.pid, 'SIGKILL');
    const rest = start({ ...load, mode: 'rest' });
    await rest.next('ready');
    rest.say('go');
    await rest.next('done');
    const report = await reportOf(receiver);
    await Promise.all([killed.end(), rest.end()]);
    const again = report.requests - report.refused - report.events;
    return { lost: events - report.events, againPercent: (again * 100) / report.requests };
  });
}

interface Bench {
  readonly receiver: LineProcess;
  readonly start: (
    load: WebhookLoad | (Omit<WebhookLoad, 'mode'> & { mode: 'rest' }),
  ) => LineProcess;
}

async function withReceiver<Result>(work: (bench: Bench) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const receiver = new LineProcess(tool('webhook-receiver'));
  try {
    const port = await receiver.next('port');
    const file = join(folder, 'offhook.db');
    const start: Bench['start'] = (load) => {
      const facts = [load.events, load.endpoints].map(String);
      const hang = load.hasHanging ? ['hang'] : [];
      return new LineProcess([...tool('webhook-sender'), load.mode, port, ...facts, file, ...hang]);
    };
    return await work({ receiver, start });
  } finally {
    await receiver.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function reportOf(receiver: LineProcess): Promise<ReceiverReport> {
  receiver.say('report');
  return JSON.parse(await receiver.next('report'));
}

function tool(name: string): [string, ...string[]] {
  return [
    process.execPath,
    ...START_FLAGS,
    fileURLToPath(new URL(`../tools/${name}.ts`, import.meta.url)),
  ];
}
