/** To be imported before a server: its main thread computes for 30 ms of every 100, and makes garbage meanwhile. */
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 100;
const BLOCKED_MS = 30;

function block(): void {
  const untilMs = performance.now() + BLOCKED_MS;
  let garbage: object[] = [];
  while (performance.now() < untilMs) {
    garbage.push({ some: [garbage.length] });
    if (garbage.length > 50_000) garbage = [];
  }
}

if (isMainThread) setInterval(block, EVERY_MS).unref();
