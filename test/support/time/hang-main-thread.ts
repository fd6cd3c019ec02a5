/** To be imported by a server before all else: at SIGUSR2 its main thread hangs without end, and without using the processor. */
import { isMainThread } from 'node:worker_threads';

function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (isMainThread) process.on('SIGUSR2', hang);
