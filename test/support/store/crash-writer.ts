/** Writes calls with their events as fast as it can, and prints the number of each once it is kept, until killed. */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { callStartedEvent } from '../../../src/domain/call/call-events.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore } from '../../../src/store/store.ts';
import { buildCall } from './build-call.ts';

// It is killed: what it has compiled would not be kept at its end.
flushCompileCache();

const [file = '', round = ''] = process.argv.slice(2);
const store = await openStore({ file, clock: systemClock, log: silentLogger });

for (let index = 1; ; index++) {
  const id = `call_${round}_${index}`;
  const call = buildCall({ id, status: 'in_progress', answeredAt: systemClock.now() });
  const stamp = { id: `evt_${round}_${index}`, now: systemClock.now() };
  await store.calls.insert(call, [callStartedEvent(call, stamp)]);
  writeSync(1, `${index}\n`);
}
