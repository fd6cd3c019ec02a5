/** Servers that answer SIP calls, each a process of its own, for `bench/sip-cps.ts`. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/network/free-ports.ts';
import { cpuSecondsOf } from './harness.ts';
import { START_FLAGS } from './start-flags.ts';

export interface SipServer {
  readonly port: number;
  /** CPU time that it has used so far, all its threads together. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** How long sipp takes to open its port: it does not say when it has. */
const SIPP_START_MS = 500;

/** Our engine alone: rings and answers in the same moment. */
export function startEngine(): Promise<SipServer> {
  return startTool('sip-answerer');
}

/** The same engine with drachtio's protocol, drachtio-srf and our call control over it, all in one process. */
export function startCallControl(): Promise<SipServer> {
  return startTool('sip-call-control');
}

async function startTool(name: string): Promise<SipServer> {
  const port = await freePort();
  const tool = fileURLToPath(new URL(`../tools/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [...START_FLAGS, tool, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Its first line says that it listens.
  await once(child.stdout, 'data');
  return serverOf(child, port);
}

/** The peer: sipp's own answering side. */
export async function startSippServer(): Promise<SipServer> {
  const port = await freePort();
  const child = spawn('sipp', ['-sn', 'uas', '-i', '127.0.0.1', '-p', String(port), '-nostdin'], {
    stdio: 'ignore',
  });
  await new Promise((resolve) => setTimeout(resolve, SIPP_START_MS));
  return serverOf(child, port);
}

function serverOf(child: ChildProcess, port: number): SipServer {
  const { pid } = child;
  if (pid === undefined) throw new Error(`Cannot start "${child.spawnfile}": no process`);
  return {
    port,
    cpuSeconds: () => cpuSecondsOf(pid),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
