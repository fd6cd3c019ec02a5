/**
 * The customers' side of `bench/webhooks.ts`, as a process of its own: `/0` hangs, one answer in twenty of the others is
 * 500. Prints `port N`; to `report` it answers `report {…}` about what came since `reset`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { percentile } from '../lib/harness.ts';

/** What one run looks like from here; what hangs is left out. */
export interface ReceiverReport {
  readonly requests: number;
  /** Requests that were answered 500. */
  readonly refused: number;
  /** Different ones. */
  readonly events: number;
  /** From the event's creation to its first arrival, where the body tells the creation; in ms. */
  readonly p50: number;
  readonly p99: number;
}

const FAILURE_EVERY = 20;
const SENT_AT = /"sentAtMs":([\d.]+)/;

let requests = 0;
let refused = 0;
let seen = new Set<string>();
let delays: number[] = [];

const server = createServer((request, response) => {
  const atMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (request.url === '/0') return;
  request.on('end', () => {
    requests += 1;
    const id = String(request.headers['webhook-id']);
    const sentAtMs = SENT_AT.exec(String(chunks[0]))?.[1];
    if (sentAtMs !== undefined && !seen.has(id)) delays.push(atMs - Number(sentAtMs));
    seen.add(id);
    const isRefused = requests % FAILURE_EVERY === 0;
    if (isRefused) refused += 1;
    response.writeHead(isRefused ? 500 : 204).end();
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(`port ${(server.address() as AddressInfo).port}`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'reset') {
    requests = 0;
    refused = 0;
    seen = new Set();
    delays = [];
    continue;
  }
  const [p50, p99] = [percentile(delays, 50), percentile(delays, 99)];
  const report: ReceiverReport = { requests, refused, events: seen.size, p50, p99 };
  console.log(`report ${JSON.stringify(report)}`);
}
server.closeAllConnections();
server.close();
