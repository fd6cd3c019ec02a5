/** Writes calls with their events as fast as it can, and prints the number of each once it is kept, until killed. */
import { writeSync } from 'node:fs';
import { callStartedEvent } from '../../src/domain/call/call-events.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/store.ts';
import { buildCall } from './build-call.ts';

const [file = '', round = ''] = process.argv.slice(2);
const store = await openStore({ file, clock: systemClock, log: silentLogger });

for (let index = 1; ; index++) {
  const id = `call_${round}_${index}`;
  const call = buildCall({ id, status: 'in_progress', answeredAt: systemClock.now() });
  const stamp = { id: `evt_${round}_${index}`, now: systemClock.now() };
  store.calls.insert(call, [callStartedEvent(call, stamp)]);
  writeSync(1, `${index}\n`);
}
