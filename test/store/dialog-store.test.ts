import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/store.ts';
import { buildDialog } from '../support/sip/build-dialog.ts';
import { openTestStore } from '../support/store/test-store.ts';

const dialog = (id: string, openedAtMs: number) =>
  buildDialog({ id, openedAt: new Date(openedAtMs) });

test('DialogStore gives back what it keeps, oldest first', async () => {
  const { dialogs } = await openTestStore();

  await dialogs.save(dialog('b', 2_000));
  await dialogs.save(dialog('a', 1_000));
  await dialogs.save({ ...dialog('b', 2_000), sequence: 5 });

  expect(await dialogs.all()).toEqual([dialog('a', 1_000), { ...dialog('b', 2_000), sequence: 5 }]);
});

test('DialogStore gives back what the carrier charges', async () => {
  const { dialogs } = await openTestStore();
  const price = { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 };

  await dialogs.save({ ...dialog('a', 1_000), price });

  expect(await dialogs.all()).toEqual([{ ...dialog('a', 1_000), price }]);
});

test('DialogStore forgets, also what it never kept', async () => {
  const { dialogs } = await openTestStore();
  await dialogs.save(dialog('a', 1_000));

  await dialogs.remove('a');
  await dialogs.remove('never');

  expect(await dialogs.all()).toEqual([]);
});

test('DialogStore keeps an unanswered call, and then its answer', async () => {
  const { dialogs } = await openTestStore();
  const peer = { protocol: 'UDP', address: '192.0.2.2', port: 5060 };
  const head = 'INVITE sip:+15550100001@192.0.2.2 SIP/2.0\r\nCall-ID: call-1\r\n\r\n';
  const invite = { direction: 'out', server: 'sip', transactionId: 't-1', head, peer } as const;

  await dialogs.save({ ...dialog('a', 1_000), invite });
  const ringing = await dialogs.all();
  await dialogs.save(dialog('a', 1_000));

  expect(ringing).toEqual([{ ...dialog('a', 1_000), invite }]);
  expect(await dialogs.all()).toEqual([dialog('a', 1_000)]);
});

test('DialogStore reads the dialogs of a version that kept no address of the far end', async () => {
  const before = await openTestStore();
  await before.dialogs.save(dialog('a', 1_000));
  await before.close();
  const sqlite = new Sqlite(before.file);
  sqlite.exec('alter table open_dialogs drop column peer');
  sqlite.pragma('user_version=37');
  sqlite.close();

  const store = await openStore({ file: before.file, clock: before.clock, log: silentLogger });
  onTestFinished(() => store.close());

  expect(await store.dialogs.all()).toEqual([{ ...dialog('a', 1_000), peer: null }]);
});
