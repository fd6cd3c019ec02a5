/** Ends its own process when that has more memory than it may: started by the process that reads documents. */
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;

function watch(bytesMax: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > bytesMax) process.kill(process.pid, 'SIGKILL');
  }, EVERY_MS);
}

if (parentPort !== null) watch(workerData);
