import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { CallQuality } from '../../src/domain/call/call-life.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

const QUALITY: CallQuality = {
  codec: 'PCMU',
  local: {
    ...{
      packetsSent: 1010,
      packetsUnsent: 0,
      packetsReceived: 990,
      packetsLost: 10,
      packetsLate: 5,
    },
    ...{ packetsRejected: 1, lossPercent: 1.5, jitterMs: 2 },
  },
  remote: {
    ...{ packetsSent: 1000, packetsLost: 50, lossPercent: 5, jitterMs: 4.3 },
    ...{ roundTripMs: 80, roundTripMsMax: null },
  },
  mos: 3.27,
};

const BARE: CallQuality = { ...QUALITY, remote: null, mos: null };

test('CallQualityStore gives back what it keeps, by call', async () => {
  const { calls, qualities } = await openTestStore();
  await calls.insert(buildCall({ id: 'call_1' }), []);
  await calls.insert(buildCall({ id: 'call_2' }), []);

  await qualities.save('call_1', QUALITY);
  await qualities.save('call_2', BARE);

  const found = await Promise.all(['call_1', 'call_2', 'call_3'].map((id) => qualities.find(id)));
  expect(found).toEqual([QUALITY, BARE, undefined]);
});

test('CallQualityStore replaces what it kept of a call', async () => {
  const { calls, qualities } = await openTestStore();
  await calls.insert(buildCall(), []);

  await qualities.save('call_1', QUALITY);
  await qualities.save('call_1', BARE);

  expect(await qualities.find('call_1')).toEqual(BARE);
});

test('CallQualityStore keeps nothing of a call that is not kept', async () => {
  const { qualities } = await openTestStore();

  await expect(qualities.save('call_0', QUALITY)).rejects.toThrow();
});

test('CallQualityStore keeps the quality of a call as long as the call, and not longer', async () => {
  const { calls, clock, file, qualities, retention } = await openTestStore();
  await calls.insert(buildCall({ id: 'call_1' }), []);
  await calls.insert(buildCall({ id: 'call_2' }), []);
  await qualities.save('call_1', QUALITY);
  await qualities.save('call_2', QUALITY);

  clock.advance(400 * 86_400_000);
  await retention.prune(clock.now());
  const afterPruning = await qualities.find('call_1');
  const other = new Sqlite(file);
  other.pragma('foreign_keys=ON');
  other.exec("delete from calls where id = 'call_1'");
  other.close();

  expect(afterPruning).toEqual(QUALITY);
  expect([await qualities.find('call_1'), await qualities.find('call_2')]).toEqual([
    undefined,
    QUALITY,
  ]);
});
