/** The journal of open dialogs while another process holds the database. */
import { expect, test } from 'vitest';
import type { OpenDialog } from '../../src/domain/call/open-dialog.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request, settle } from './scripted-srf.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';

const inviteOf = (callId: string) =>
  request({
    headers: {
      'Call-ID': callId,
      From: '<sip:+15550100001@192.0.2.1>;tag=theirs',
      To: '<sip:+390612345678@192.0.2.9>',
      Contact: '<sip:bob@192.0.2.1>',
    },
  });

const EXPECTED = { localTag: 'ours', channels: [] };

/** A journal whose store throws while `refusal` is set. */
function openJournal() {
  const clock = new FakeClock();
  const { kept, writes, store } = dialogsInMemory();
  const state: { refusal: Error | undefined; tries: number } = { refusal: undefined, tries: 0 };
  const unlessRefused = async (write: () => Promise<void>) => {
    state.tries += 1;
    if (state.refusal !== undefined) throw state.refusal;
    await write();
  };
  const refusing = {
    save: (open: OpenDialog) => unlessRefused(() => store.save(open)),
    remove: (id: string) => unlessRefused(() => store.remove(id)),
  };
  const log = silentLogger;
  const journal = new OpenDialogJournal({ clock, log, store: refusing, orphans: [] });
  const wait = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { journal, kept, writes, state, wait };
}

const LOCKED = new StoreError('Cannot use the database: another process holds its lock', 'locked');

test('OpenDialogJournal saves a dialog once the database is free, and the call does not wait for that', async () => {
  const { journal, kept, state, wait } = openJournal();
  state.refusal = LOCKED;

  await journal.expect(inviteOf('call-1'), EXPECTED).saved;
  const during = kept.size;
  await wait(3000);
  state.refusal = undefined;
  await wait(1000);

  expect(during).toBe(0);
  expect([...kept.keys()]).toEqual(['call-1;ours']);
});

test('OpenDialogJournal keeps nothing of a call that ended while the database was locked', async () => {
  const { journal, kept, state, wait } = openJournal();
  const before = journal.expect(inviteOf('call-1'), EXPECTED);
  await before.saved;
  state.refusal = LOCKED;
  const meanwhile = journal.expect(inviteOf('call-2'), EXPECTED);
  await meanwhile.saved;

  before.forget();
  meanwhile.forget();
  await settle();
  state.refusal = undefined;
  await wait(1000);

  expect(kept.size).toBe(0);
});

test('OpenDialogJournal tries a locked database once a second, however many dialogs wait', async () => {
  const { journal, state, wait } = openJournal();
  state.refusal = LOCKED;
  for (let call = 0; call < 20; call += 1) {
    await journal.expect(inviteOf(`call-${call}`), EXPECTED).saved;
  }
  state.tries = 0;

  await wait(1000);

  expect(state.tries).toBe(1);
});

test('OpenDialogJournal does not repeat a write that fails for a mistake of ours', async () => {
  const { journal, state, wait } = openJournal();
  state.refusal = new TypeError('no such column');
  await journal.expect(inviteOf('call-1'), EXPECTED).saved;
  state.tries = 0;

  await wait(5000);

  expect(state.tries).toBe(0);
});
