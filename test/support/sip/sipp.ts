/** sipp, the SIP load generator, as a caller of the server under test. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-ports.ts';

export interface SippResult {
  readonly successful: number;
  readonly failed: number;
  /** The last screen that sipp printed. */
  readonly screen: string;
}

/** Runs sipp's own `uac` scenario and reads its closing statistics. */
export async function runSipp(options: {
  readonly sipPort: number;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly args?: readonly string[];
  readonly number?: string;
  readonly timeoutMs?: number;
}): Promise<SippResult> {
  const { sipPort, calls, callsPerSecond, args = [], number = '+12025550123' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-sipp-'));
  const target = ['-sn', 'uac', `127.0.0.1:${sipPort}`, '-s', number, '-i', '127.0.0.1'];
  const pace = ['-m', String(calls), '-r', String(callsPerSecond), '-p', String(await freePort())];
  const child = spawn('sipp', [...target, ...pace, '-nostdin', ...args], { cwd: folder });
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    screen = (screen + chunk.toString()).slice(-20_000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 120_000);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
  return {
    successful: countOf(screen, 'Successful call'),
    failed: countOf(screen, 'Failed call'),
    screen,
  };
}

/** The cumulative column of the last statistics screen; -1 when sipp printed none. */
function countOf(screen: string, label: string): number {
  const line = screen.split('\n').findLast((text) => text.includes(label));
  return Number(line?.split('|').at(-1)?.trim() ?? -1);
}
