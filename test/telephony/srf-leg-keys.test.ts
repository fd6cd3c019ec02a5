/** Keys of a far end, by whichever way they come. */
import { expect, test } from 'vitest';
import { openPair } from './scripted-pair.ts';
import { keyByInfo } from './scripted-srf.ts';

/** A leg whose far end presses keys, and what the leg hears of them. */
function openHearing() {
  const { clock, dialog, endpoint, leg } = openPair().first;
  const heard = { inSound: '', byInfo: '' };
  leg.onDigit((digit) => {
    heard.byInfo += digit;
  });
  leg.audio.onEvent((event) => {
    if (event.kind === 'digit') heard.inSound += event.digit;
  });
  return {
    clock,
    heard,
    byInfo: (digit: string) => dialog.receive('info', keyByInfo(digit)),
    inSound: (digit: string) => endpoint.report({ kind: 'digit', digit, durationMs: 100 }),
  };
}

test.each([
  ['in its sound', 's1 s2 s3', '123', ''],
  ['by INFO', 'i1 i2 i3', '', '123'],
  ['in its sound and then by INFO', 's1 i1 s2 i2 s3 i3', '123', ''],
  ['by INFO and then in its sound', 'i1 s1 i2 s2 i3 s3', '23', '1'],
  ['by INFO, and all of them in its sound later', 'i1 i2 i3 s1 s2 s3', '', '123'],
  ['in its sound, and all of them by INFO later', 's1 s2 s3 i1 i2 i3', '123', ''],
  ['some in its sound and others by INFO', 's1 s2 i3', '12', '3'],
  ['some by INFO and others in its sound', 'i1 s2 i3', '2', '13'],
  ['twice each, both ways', 's4 i4 s4 i4', '44', ''],
  ['twice each, by INFO first', 'i4 s4 i4 s4', '4', '4'],
])('SrfLeg hears each key of a far end once that sends them %s', (_, presses, inSound, byInfo) => {
  const far = openHearing();

  for (const [way, digit = ''] of presses.split(' ')) {
    if (way === 'i') far.byInfo(digit);
    else far.inSound(digit);
  }

  expect(far.heard).toEqual({ inSound, byInfo });
});

test.each([
  'si',
  'is',
])('SrfLeg takes the same key by the other way for another press after five seconds, %s', (ways) => {
  const far = openHearing();

  for (const way of ways) {
    if (way === 'i') far.byInfo('5');
    else far.inSound('5');
    far.clock.advance(5_001);
  }

  expect(far.heard).toEqual({ inSound: '5', byInfo: '5' });
});

test('SrfLeg remembers no more keys than it must, however many a far end sends', () => {
  const far = openHearing();

  far.byInfo('9');
  for (let sent = 0; sent < 32; sent += 1) far.byInfo('0');
  far.inSound('9');

  expect(far.heard.inSound).toBe('9');
});
