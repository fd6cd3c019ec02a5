/** Keys of a far end, by whichever way they come. */
import { expect, test } from 'vitest';
import { openPair } from './scripted-pair.ts';
import { keyByInfo } from './scripted-srf.ts';

test.each([
  ['in its sound', 'sss', '123', ''],
  ['by INFO', 'iii', '', '123'],
  ['in its sound and then by INFO', 'sisisi', '123', ''],
  ['by INFO and then in its sound', 'isisis', '23', '1'],
])('SrfLeg hears each key of a far end once that sends its keys %s', (_, ways, inSound, byInfo) => {
  const { dialog, endpoint, leg } = openPair().first;
  const heard = { inSound: '', byInfo: '' };
  leg.onDigit((digit) => {
    heard.byInfo += digit;
  });
  leg.audio.onEvent((event) => {
    if (event.kind === 'digit') heard.inSound += event.digit;
  });
  const keysOf = { s: [...'123'], i: [...'123'] };

  for (const way of ways) {
    if (way === 'i') dialog.receive('info', keyByInfo(keysOf.i.shift() ?? ''));
    else endpoint.report({ kind: 'digit', digit: keysOf.s.shift() ?? '', durationMs: 100 });
  }

  expect(heard).toEqual({ inSound, byInfo });
});

test('SrfLeg hears a key twice that is pressed twice', () => {
  const { dialog, endpoint, leg } = openPair().first;
  let keys = '';
  leg.onDigit((digit) => {
    keys += digit;
  });
  leg.audio.onEvent((event) => {
    if (event.kind === 'digit') keys += event.digit;
  });

  for (let press = 0; press < 2; press += 1) {
    dialog.receive('info', keyByInfo('4'));
    endpoint.report({ kind: 'digit', digit: '4', durationMs: 100 });
  }

  expect(keys).toBe('44');
});
