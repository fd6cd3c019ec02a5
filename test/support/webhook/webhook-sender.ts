/**
 * A process that delivers from a store until it is killed, or its input ends. Prints `ready`, begins when it is told
 * `go`, and prints `kept` after each group of results that is written.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { Outbox } from '../../../src/domain/webhook/webhook-delivery.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore } from '../../../src/store/store.ts';
import { Deliverer } from '../../../src/webhook/deliverer.ts';
import { HttpSender } from '../../../src/webhook/http-sender.ts';
import { nameResolver } from '../../../src/webhook/ssrf-guard.ts';

const [file = '', timeoutMs = '', waits = ''] = process.argv.slice(2);
const store = await openStore({ file, clock: systemClock, log: silentLogger });
const { outbox } = store;
const toldOutbox: Outbox = {
  notifier: outbox.notifier,
  fanOut: (options) => outbox.fanOut(options),
  waiting: () => outbox.waiting(),
  due: (endpointId, options) => outbox.due(endpointId, options),
  hurry: (options) => outbox.hurry(options),
  counts: () => outbox.counts(),
  record: async (results, now) => {
    const disabled = await outbox.record(results, now);
    writeSync(1, 'kept\n');
    return disabled;
  },
};
const sender = new HttpSender({
  rules: { allowLocal: true, allowPrivate: false },
  resolve: nameResolver(),
  clock: systemClock,
  version: '1.2.3',
  timeoutMs: Number(timeoutMs),
});
const deliverer = new Deliverer({
  outbox: toldOutbox,
  sender,
  meter: { attempted: () => undefined },
  clock: systemClock,
  log: silentLogger,
  waitsSeconds: waits.split(',').map(Number),
  jitter: Math.random,
});
// It is killed: what it has compiled would not be kept at its end.
flushCompileCache();
writeSync(1, 'ready\n');
await once(process.stdin, 'data');
deliverer.start();
process.stdin.resume();
await once(process.stdin, 'end');
await deliverer.stop();
await sender.close();
await store.close();
