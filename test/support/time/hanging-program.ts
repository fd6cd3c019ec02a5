/** A program with a watchdog: its main thread hangs in the way that the first word names, or goes on. */
import { execFileSync } from 'node:child_process';
import { startWatchdog } from '../../../src/lib/process/watchdog.ts';

/** Longer than a busy machine keeps a thread waiting. */
const HANG_MS = 1200;

function waitsForever(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function readsForever(): boolean {
  return /^(a+)+$/.test(`${'a'.repeat(60)}b`);
}

const WAYS: Readonly<Record<string, () => unknown>> = {
  wait: waitsForever,
  expression: readsForever,
  system: () => execFileSync('sleep', ['20']),
  // Longer than a check, shorter than the limit.
  busy: () => {
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs);
  },
};

const stop = startWatchdog(HANG_MS);
const [, , way = '', end = ''] = process.argv;
if (end === 'stopped') stop();
setTimeout(() => WAYS[way]?.(), 100);
setTimeout(() => process.stdout.write('went on\n'), 2000);
