/**
 * One sender of `bench/webhooks.ts`, as a process of its own. Prints `ready`, begins at the first line of input, prints
 * `done {"answered":N}`, and ends with its input.
 *
 * `node webhook-sender.ts ours|paced|rest|bare|fetch RECEIVER_PORT EVENTS ENDPOINTS FILE`; without `hang` behind it the first
 * endpoint is left out. `rest` delivers what another process left in FILE.
 */
import { once } from 'node:events';
import { Pool } from 'undici';
import { deliver, eventBody, happen, openOutbox, stopDelivering } from '../lib/webhook-outbox.ts';

const [mode = '', port = '', events = '', endpoints = '', file = '', hang = ''] =
  process.argv.slice(2);
const eventCount = Number(events);
const endpointCount = Number(endpoints);
const firstEndpoint = hang === 'hang' ? 0 : 1;
const origin = `http://127.0.0.1:${port}`;

/** Peers send as many at once as we do. */
const AT_ONCE = 64;

/** Enough for the compiler to have done its work: the young process is not what is measured. */
const WARM_EVENTS = 15_000;

/** Events a second in the paced run: far below what the machine could send. */
const PACED_PER_TICK = 2;
const TICK_MS = 10;

type Run = () => Promise<number>;

/** Each event goes to the next endpoint; what the hanging one is sent is never answered. */
const endpointOf = (index: number) => firstEndpoint + (index % (endpointCount - firstEndpoint));

function answeredOf(from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index += 1) if (endpointOf(index) !== 0) count += 1;
  return count;
}

async function prepareOurs(): Promise<Run> {
  const urls = Array.from({ length: endpointCount }, (_, index) => `${origin}/${index}`);
  const store = await openOutbox({ file, endpoints: urls });
  if (mode === 'rest') return () => deliver(store, Number.POSITIVE_INFINITY);
  const warmed = eventCount + WARM_EVENTS;
  for (let index = eventCount; index < warmed; index += 1) happen(store, index, 1 + (index % 7));
  await deliver(store, WARM_EVENTS);
  await stopDelivering();
  if (mode === 'ours') {
    for (let index = 0; index < eventCount; index += 1) happen(store, index, endpointOf(index));
    return () => deliver(store, answeredOf(0, eventCount));
  }
  return async () => {
    const delivered = deliver(store, answeredOf(0, eventCount));
    for (let index = 0; index < eventCount; index += 1) {
      happen(store, index, endpointOf(index), performance.timeOrigin + performance.now());
      if (index % PACED_PER_TICK === 0) await new Promise((done) => setTimeout(done, TICK_MS));
    }
    return delivered;
  };
}

/** The least that a sender can do: no signature, no store, nothing that outlives the process. */
async function preparePeer(
  send: (path: string, id: string, body: string) => Promise<void>,
): Promise<Run> {
  const loop = async (from: number, to: number) => {
    let next = from;
    const worker = async () => {
      while (next < to) {
        const index = next;
        next += 1;
        const path = `/${1 + (index % (endpointCount - 1))}`;
        await send(path, `evt_${index}`, eventBody(index));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return to - from;
  };
  await loop(eventCount, eventCount + WARM_EVENTS);
  return () => loop(0, eventCount);
}

function prepare(): Promise<Run> {
  const headers = (id: string) => ({ 'content-type': 'application/json', 'webhook-id': id });
  if (mode === 'bare') {
    const pool = new Pool(origin, { connections: AT_ONCE });
    return preparePeer(async (path, id, body) => {
      const answer = await pool.request({ path, method: 'POST', headers: headers(id), body });
      await answer.body.dump();
    });
  }
  if (mode === 'fetch') {
    return preparePeer(async (path, id, body) => {
      const answer = await fetch(origin + path, { method: 'POST', headers: headers(id), body });
      await answer.arrayBuffer();
    });
  }
  return prepareOurs();
}

const run = await prepare();
console.log('ready');
await once(process.stdin, 'data');
console.log(`done ${JSON.stringify({ answered: await run() })}`);
process.stdin.resume();
await once(process.stdin, 'end');
await stopDelivering();
process.exit();
