/** To be imported by a server before all else: from each SIGUSR2 to the next its main thread is mostly busy. */
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const BUSY_MS = 200;
const PAUSE_MS = 40;

function burn(): void {
  const untilMs = performance.now() + BUSY_MS;
  while (performance.now() < untilMs);
}

if (isMainThread && basename(process.argv[1] ?? '') === 'main.js') {
  let timer: NodeJS.Timeout | undefined;
  process.on('SIGUSR2', () => {
    if (timer === undefined) {
      timer = setInterval(burn, PAUSE_MS);
      return;
    }
    clearInterval(timer);
    timer = undefined;
  });
}
