/** Digits that a tool collects: when an entry is over, what is in it, and when the caller's sound is private. */
import { expect, test } from 'vitest';
import { Keypad } from '../../src/conversation/endpointing/keypad.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openKeypad() {
  const clock = new FakeClock();
  const privacy: boolean[] = [];
  const counts: number[] = [];
  const audio = { setPrivate: (isPrivate: boolean) => void privacy.push(isPrivate) };
  const keypad = new Keypad({ clock, audio, onEntry: (count) => counts.push(count) });
  const abort = new AbortController();
  const entry: { digits?: string } = {};
  const collect = (max = 16) => {
    void keypad.collect(max, abort.signal).then((digits) => {
      entry.digits = digits;
    });
  };
  const press = (keys: string) => [...keys].map((key) => keypad.take(key));
  return { clock, keypad, privacy, counts, abort, entry, collect, press };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['4111#', '4111', 'the hash key'],
  ['12*345#', '345', 'the hash key, after a new start'],
  ['1A2D3#', '123', 'the hash key, with keys between that are no digits'],
  ['1234567890123456', '1234567890123456', 'the last possible digit'],
  ['#', '', 'the hash key alone'],
])('keys %s give "%s": the entry is over by %s', async (keys, digits) => {
  const { press, collect, entry, counts } = openKeypad();
  collect();

  const taken = press(keys);
  await settled();

  expect(entry.digits).toBe(digits);
  expect(new Set(taken)).toEqual(new Set([true]));
  expect(counts).toEqual(digits === '' ? [] : [digits.length]);
});

test('an entry is over when no key comes for 15 s, and 6 s after a key', async () => {
  const { clock, collect, entry, press } = openKeypad();
  collect();
  clock.advance(14_999);
  await settled();
  expect(entry.digits).toBeUndefined();
  press('7');
  clock.advance(5999);
  await settled();
  expect(entry.digits).toBeUndefined();

  clock.advance(1);
  await settled();

  expect(entry.digits).toBe('7');
});

test('an entry that is broken off gives what there is, and the keys after it are the conversation’s', async () => {
  const { abort, collect, entry, press } = openKeypad();
  collect();
  press('12');

  abort.abort();
  await settled();

  expect(entry.digits).toBe('12');
  expect(press('3')).toEqual([false]);
});

test('a signal that was aborted before ends the entry at once', async () => {
  const { abort, collect, entry } = openKeypad();
  abort.abort();

  collect();
  await settled();

  expect(entry.digits).toBe('');
});

test('a hash key right after a whole number belongs to it, a later one does not', async () => {
  const { clock, collect, press } = openKeypad();
  collect(2);
  press('12');
  await settled();

  clock.advance(2999);
  const soon = press('#');
  clock.advance(1);

  expect([soon, press('#'), press('1')]).toEqual([[true], [false], [false]]);
});

test('keys that came early are the first of the entry', async () => {
  const { collect, entry, keypad, press } = openKeypad();
  keypad.typeAhead('4');
  keypad.typeAhead('1');

  collect();
  press('7#');
  await settled();

  expect(entry.digits).toBe('417');
});

test('the sound is private from the first key on until half a second after the entry', async () => {
  const { clock, collect, keypad, press, privacy } = openKeypad();
  keypad.typeAhead('4');
  collect();
  clock.advance(2000);
  press('1#');
  await settled();
  clock.advance(499);
  expect(new Set(privacy)).toEqual(new Set([true]));

  clock.advance(1);

  expect(privacy.at(-1)).toBe(false);
});

test('early keys of a tool that never asks are forgotten, and the caller is heard', async () => {
  const { clock, collect, entry, keypad, press, privacy } = openKeypad();
  keypad.typeAhead('4');
  clock.advance(500);
  expect(privacy).toEqual([true, false]);

  collect();
  press('9#');
  await settled();

  expect(entry.digits).toBe('9');
});
