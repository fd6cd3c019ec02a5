/** The thread behind `StubClock`: sleeps to the microsecond, which an event loop cannot, and says whose time it is. */
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { raiseThreadPriority } from '../../src/media/worker/thread-priority.ts';
import { monotonicMs } from '../lib/monotonic.ts';

/** The thread looks for new waits at least so often: to be told of a longer one, it need not be woken. */
export const LOOK_MS = 10;

/** A request: report `id` at the given instant. Without an id: end. */
export interface StubWait {
  readonly id: number | null;
  /** On the machine's monotonic clock. */
  readonly atMs: number;
}

export interface StubClockData {
  readonly port: MessagePort;
  /** Grows by one with every wait that is asked for. */
  readonly asked: Int32Array;
}

function serve({ port, asked }: StubClockData): void {
  let waits: StubWait[] = [];
  for (;;) {
    const seen = Atomics.load(asked, 0);
    for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
      const wait: StubWait = got.message;
      if (wait.id === null) return;
      waits.push(wait);
    }
    const nowMs = monotonicMs();
    for (const { id, atMs } of waits) if (atMs <= nowMs) port.postMessage(id);
    waits = waits.filter(({ atMs }) => atMs > nowMs);
    const nextAtMs = Math.min(...waits.map(({ atMs }) => atMs));
    Atomics.wait(asked, 0, seen, Math.min(LOOK_MS, Math.max(0, nextAtMs - monotonicMs())));
  }
}

if (workerData !== null) {
  await raiseThreadPriority();
  serve(workerData);
}
