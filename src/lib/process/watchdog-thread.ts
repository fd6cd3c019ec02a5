/** The watchdog's thread: finds that the main thread hangs, and where, and ends the process. */
import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import type { WatchdogOrder } from './watchdog.ts';

const STDERR = 2;

/** A main thread that runs native code, such as a system call that blocks, has no place to report. */
const STACK_MS_MAX = 2000;

/** Checks are counted, and no clock is read: a machine that slept, or a process that was stopped, has not hung. */
function watch({ beats, checkMs, missedMax }: WatchdogOrder): void {
  const counter = new Int32Array(beats);
  let [last, missed] = [0, 0];
  const timer = setInterval(() => {
    const beat = Atomics.load(counter, 0);
    missed = beat === last ? missed + 1 : 0;
    last = beat;
    if (missed < missedMax) return;
    clearInterval(timer);
    void endProcess(missedMax * checkMs);
  }, checkMs);
}

async function endProcess(hangMs: number): Promise<void> {
  const frames = await mainThreadStack();
  const lines = [
    `The main thread has hung for ${hangMs / 1000} s: the process ends, to be started again. Report this with the lines below.`,
    ...(frames.length === 0 ? ['    in native code'] : frames.map((frame) => `    at ${frame}`)),
  ];
  try {
    writeSync(STDERR, `${lines.join('\n')}\n`);
  } catch {
    // The log's reader hangs too: the process must end nevertheless.
  }
  process.kill(process.pid, 'SIGKILL');
}

/** Functions that the main thread is in, innermost first; empty where it does not run JavaScript. Names and places only, no values. */
function mainThreadStack(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    setTimeout(() => resolve([]), STACK_MS_MAX);
    const urls = new Map<string, string>();
    const session = new Session();
    session.connectToMainThread();
    session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => {
      resolve(params.callFrames.map((frame) => frameText(frame, urls)));
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

function frameText(
  { functionName, location }: Debugger.CallFrame,
  urls: ReadonlyMap<string, string>,
): string {
  const { scriptId, lineNumber, columnNumber = 0 } = location;
  const place = `${urls.get(scriptId) ?? 'unknown'}:${lineNumber + 1}:${columnNumber + 1}`;
  return functionName === '' ? place : `${functionName} (${place})`;
}

if (parentPort !== null) watch(workerData);
