/** Runs the self-test as the operator's command does, in a process of low priority: calls in progress come first. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setLowPriority } from '../lib/process/low-priority.ts';
import type { SelfTestOutcome } from './self-test-run.ts';

const ADMIN = fileURLToPath(new URL('../cli/admin.ts', import.meta.url));

/** The command ends by itself after two or three minutes; a process that needs this long hangs. */
const RUN_MS_MAX = 15 * 60_000;

const OUTPUT_CHARACTERS_MAX = 100_000;

/** With the server's own settings: same environment, same working directory. */
export function runSelfTestProcess(signal: AbortSignal): Promise<SelfTestOutcome> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS_MAX)]);
  const child = spawn(process.execPath, [ADMIN, 'self-test'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: limit,
    killSignal: 'SIGKILL',
  });
  if (child.pid !== undefined) setLowPriority(child.pid);
  const { promise, resolve } = Promise.withResolvers<SelfTestOutcome>();
  let output = '';
  const keep = (text: string) => {
    output = `${output}${text}`.slice(0, OUTPUT_CHARACTERS_MAX);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => resolve({ isPassed: false, report: error.message }));
  child.once('close', (status, cause) => {
    const report = output.trim() || `The self-test ended with ${cause ?? status}`;
    resolve({ isPassed: status === 0, report });
  });
  return promise;
}
