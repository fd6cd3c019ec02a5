import { expect, test } from 'vitest';
import { CallJournal } from '../../src/call/session/call-journal.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** A database that refuses until it is told to work again. */
function flakyStore() {
  const written: string[] = [];
  const store = { isBroken: false, written };
  const write = (text: string) => async () => {
    if (store.isBroken) throw new StoreError('the disk is full', 'full');
    written.push(text);
  };
  return { store, write };
}

test('CallJournal writes at once while the database works', async () => {
  const { store, write } = flakyStore();
  const journal = new CallJournal({ clock: new FakeClock(), log: silentLogger });

  journal.write(write('one'));

  expect(store.written).toEqual(['one']);
});

test('CallJournal keeps the order of what waited for a full disk', async () => {
  const clock = new FakeClock();
  const { store, write } = flakyStore();
  const journal = new CallJournal({ clock, log: silentLogger });

  store.isBroken = true;
  journal.write(write('one'));
  await clock.pass(1500);
  store.isBroken = false;
  journal.write(write('two'));
  await clock.pass(1000);

  expect(store.written).toEqual(['one', 'two']);
});

test('CallJournal tells when everything has been written', async () => {
  const clock = new FakeClock();
  const { store, write } = flakyStore();
  const journal = new CallJournal({ clock, log: silentLogger });
  store.isBroken = true;
  journal.write(write('one'));

  const drained = journal.drained(10_000);
  store.isBroken = false;
  await clock.pass(1000);

  expect(await drained).toBe(true);
});

test('CallJournal gives up waiting, not writing, when the time is over', async () => {
  const clock = new FakeClock();
  const { store, write } = flakyStore();
  const journal = new CallJournal({ clock, log: silentLogger });
  store.isBroken = true;
  journal.write(write('one'));

  const drained = journal.drained(2500);
  await clock.pass(2600);
  store.isBroken = false;
  await clock.pass(1000);

  expect(await drained).toBe(false);
  expect(store.written).toEqual(['one']);
});

test('CallJournal is not held up by an entry that can never be written', async () => {
  const { store, write } = flakyStore();
  const journal = new CallJournal({ clock: new FakeClock(), log: silentLogger });

  journal.write(async () => {
    throw new Error('Cannot move call "call_1" to completed: it is failed');
  });
  journal.write(write('two'));

  expect(await journal.drained(1000)).toBe(true);
  expect(store.written).toEqual(['two']);
});
