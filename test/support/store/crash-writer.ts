/** Writes calls with their events, ends each, and prints its number once it is kept, as fast as it can, until killed. */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { callEndedEvent, callStartedEvent } from '../../../src/domain/call/call-events.ts';
import { endCall } from '../../../src/domain/call/call-life.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore } from '../../../src/store/store.ts';
import { buildCall } from './build-call.ts';

// It is killed: what it has compiled would not be kept at its end.
flushCompileCache();

const [file = '', round = ''] = process.argv.slice(2);
const store = await openStore({ file, clock: systemClock, log: silentLogger });

/** A connection alone, so that each call has the same cost. */
const price = { perMinute: 0, currency: 'EUR', incrementSeconds: 60, connection: 0.05 };

for (let index = 1; ; index++) {
  const id = `call_${round}_${index}`;
  const answeredAt = systemClock.now();
  const call = buildCall({ id, status: 'in_progress', answeredAt, price });
  const stamp = { id: `evt_${round}_${index}`, now: systemClock.now() };
  await store.calls.insert(call, [callStartedEvent(call, stamp)]);
  const over = endCall(call, { endReason: 'user_hangup', endedAt: systemClock.now() });
  await store.calls.update(over, [callEndedEvent(over, { ...stamp, id: `${stamp.id}_end` })]);
  writeSync(1, `${index}\n`);
}
