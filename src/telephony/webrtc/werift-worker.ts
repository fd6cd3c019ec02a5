/** The thread of the browser calls: werift is loaded here and nowhere else. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock, within } from '../../lib/clock.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { FIFO_PRIORITY_LOW, raiseThreadPriority } from '../../media/worker/thread-priority.ts';
import type { FromRelay, RelaySettings, ToRelay } from './relay-thread.ts';
import { WeriftCall } from './werift-call.ts';

/** Step of the first port to try, so that ports in use are not tried again for each call. */
const STEP = 7;

/** Less than the main thread waits, so that one connection that hangs costs no other. */
const OPEN_MS_MAX = 4_000;
const CLOSE_MS_MAX = 1_000;

const { ports } = workerData as RelaySettings;
const calls = new Map<number, WeriftCall>();
let opened = 0;
/** One after the other: two that look for a port at once may find the same one. */
let queue: Promise<void> = Promise.resolve();

function tell(message: FromRelay): void {
  parentPort?.postMessage(message);
}

async function open(request: Extract<ToRelay, { kind: 'open' }>): Promise<void> {
  const { call } = request;
  try {
    const made = new WeriftCall({
      request,
      ports: nextPorts(),
      onConnected: () => tell({ kind: 'connected', call }),
      onLost: (reason) => tell({ kind: 'lost', call, reason }),
    });
    calls.set(call, made);
    tell({ kind: 'opened', call, ...(await within(systemClock, OPEN_MS_MAX, made.open())) });
  } catch (error) {
    await close(call);
    tell({ kind: 'refused', call, reason: messageOf(error) });
  }
}

function nextPorts(): readonly [number, number] {
  // At least half of all ports lie ahead.
  const places = Math.max(1, Math.floor((ports.last - ports.first) / 2));
  const first = ports.first + ((opened * STEP) % places);
  opened += 1;
  return [first, ports.last];
}

async function close(call: number): Promise<void> {
  const known = calls.get(call);
  calls.delete(call);
  if (known === undefined) return;
  await within(systemClock, CLOSE_MS_MAX, known.close()).catch(() => undefined);
}

async function obey(message: ToRelay): Promise<void> {
  if (message.kind === 'open') {
    await open(message);
    return;
  }
  await close(message.call);
  tell({ kind: 'closed', call: message.call });
}

parentPort?.on('message', (message: ToRelay) => {
  queue = queue.then(() => obey(message));
});
// A packet that waits here is late at the media worker, so this thread's priority is raised too.
await raiseThreadPriority(FIFO_PRIORITY_LOW);
tell({ kind: 'ready' });
