/** Calls made by sipp, the SIP load generator, and what came of them. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/network/free-ports.ts';
import { cpuSecondsOf, percentile } from './harness.ts';

export interface SippCalls {
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Arguments that choose the scenario: `-sn uac`, or `-sf file`. */
  readonly scenario: readonly string[];
  readonly calls: number;
  readonly callsPerSecond: number;
  /** Anything else, such as `-t t1` or `-lost 5`. */
  readonly extra?: readonly string[];
}

export interface SippResult {
  readonly successful: number;
  readonly failed: number;
  readonly retransmissions: number;
  /** From INVITE to 180; NaN where no call rang. */
  readonly ringingP99Ms: number;
  readonly seconds: number;
  /** How busy the generator was: above 70 % of a core its figures are its own. */
  readonly generatorCpuPercent: number;
}

/** How often the generator's CPU time is read while it still runs. */
const SAMPLE_MS = 100;

/** Room for what comes while the generator is not running: a busy machine is not a lossy network. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

/** sipp's own response times come from a clock that steps in 4 ms; here every message has its microsecond. */
const MESSAGES_FILE = 'messages.tsv';

/** Makes the calls, waits until the last is over, and reads sipp's own statistics. */
export async function runSipp(options: SippCalls): Promise<SippResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sipp-'));
  try {
    const startedAtMs = performance.now();
    const cpuSeconds = await callFrom(folder, options);
    const seconds = (performance.now() - startedAtMs) / 1000;
    const generatorCpuPercent = (cpuSeconds / seconds) * 100;
    return { ...readStatistics(folder), seconds, generatorCpuPercent };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function callFrom(folder: string, options: SippCalls): Promise<number> {
  const { scenario, port, calls, callsPerSecond, extra = [] } = options;
  const sipp = spawn(
    'sipp',
    [
      ...[...scenario, `127.0.0.1:${port}`, '-i', '127.0.0.1', '-p', String(await freePort())],
      ...['-m', String(calls), '-r', String(callsPerSecond), '-d', '0', '-l', '100000'],
      ...['-trace_stat', '-fd', '1', '-stf', 'statistics.csv', '-nostdin', ...extra],
      ...['-buff_size', String(SOCKET_BUFFER_BYTES)],
      ...['-trace_shortmsg', '-shortmessage_file', MESSAGES_FILE, '-timeout', '120s'],
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  let cpuSeconds = 0;
  const sampling = setInterval(() => {
    if (sipp.pid !== undefined && sipp.exitCode === null) cpuSeconds = cpuSecondsOf(sipp.pid);
  }, SAMPLE_MS);
  await new Promise<void>((resolve, reject) => {
    sipp.once('error', reject);
    sipp.once('exit', () => resolve());
  });
  clearInterval(sampling);
  return cpuSeconds;
}

function readStatistics(folder: string) {
  const lines = readFileSync(join(folder, 'statistics.csv'), 'utf8').trim().split('\n');
  const names = (lines[0] ?? '').split(';');
  const values = (lines.at(-1) ?? '').split(';');
  const figure = (name: string) => Number(values[names.indexOf(name)]);
  return {
    successful: figure('SuccessfulCall(C)'),
    failed: figure('FailedCall(C)'),
    retransmissions: figure('Retransmissions(C)'),
    ringingP99Ms: percentile(readRingingMs(folder), 99),
  };
}

/**
 * How long each call took from its first INVITE to its first 180. One line a message, fields apart by tabs:
 *
 * ```
 * date | time | seconds.microseconds | S or R | Call-ID | CSeq:1 INVITE | start line
 * ```
 */
function readRingingMs(folder: string): number[] {
  const invitedAtMs = new Map<string, number>();
  const ringingMs: number[] = [];
  for (const line of readFileSync(join(folder, MESSAGES_FILE), 'utf8').split('\n')) {
    const [, , seconds, direction, callId = '', , startLine = ''] = line.split('\t');
    const atMs = Number(seconds) * 1000;
    const startedAtMs = invitedAtMs.get(callId);
    if (direction === 'S' && startLine.startsWith('INVITE ')) {
      if (startedAtMs === undefined) invitedAtMs.set(callId, atMs);
    } else if (
      direction === 'R' &&
      startLine.startsWith('SIP/2.0 180') &&
      startedAtMs !== undefined
    ) {
      ringingMs.push(atMs - startedAtMs);
      invitedAtMs.set(callId, Number.NaN);
    }
  }
  return ringingMs.filter(Number.isFinite);
}
