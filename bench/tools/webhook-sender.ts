/**
 * One sender of `bench/webhooks.ts`, as a process of its own. Prints `ready`, begins at the first line of input, prints
 * `done {"answered":N}`, and ends with its input.
 *
 * `node webhook-sender.ts backlog|paced|rest RECEIVER_PORT EVENTS ENDPOINTS FILE`; without `hang` behind it the first
 * endpoint is left out. `rest` delivers what another process left in FILE.
 */
import { once } from 'node:events';
import { deliver, happen, openOutbox, stopDelivering } from '../lib/webhook-outbox.ts';

const [mode = '', port = '', events = '', endpoints = '', file = '', hang = ''] =
  process.argv.slice(2);
const eventCount = Number(events);
const endpointCount = Number(endpoints);
const firstEndpoint = hang === 'hang' ? 0 : 1;
const origin = `http://127.0.0.1:${port}`;

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

async function prepare(): Promise<Run> {
  const urls = Array.from({ length: endpointCount }, (_, index) => `${origin}/${index}`);
  const store = await openOutbox({ file, endpoints: urls });
  if (mode === 'rest') return () => deliver(store, Number.POSITIVE_INFINITY);
  const warmed = eventCount + WARM_EVENTS;
  for (let index = eventCount; index < warmed; index += 1)
    await happen(store, index, 1 + (index % 7));
  await deliver(store, WARM_EVENTS);
  await stopDelivering();
  if (mode === 'backlog') {
    for (let index = 0; index < eventCount; index += 1)
      await happen(store, index, endpointOf(index));
    return () => deliver(store, answeredOf(0, eventCount));
  }
  return async () => {
    const delivered = deliver(store, answeredOf(0, eventCount));
    for (let index = 0; index < eventCount; index += 1) {
      await happen(store, index, endpointOf(index), performance.timeOrigin + performance.now());
      if (index % PACED_PER_TICK === 0) await new Promise((done) => setTimeout(done, TICK_MS));
    }
    return delivered;
  };
}

const run = await prepare();
console.log('ready');
await once(process.stdin, 'data');
console.log(`done ${JSON.stringify({ answered: await run() })}`);
process.stdin.resume();
await once(process.stdin, 'end');
await stopDelivering();
process.exit();
