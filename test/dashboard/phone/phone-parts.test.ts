/** Keys, levels, microphones and the address: what the phone decides without a browser. */
import { expect, test } from 'vitest';
import { levelDbfs } from '../../../src/dashboard/meter-board.ts';
import { chosenOf, microphonesOf, socketAddress } from '../../../src/dashboard/phone/phone.ts';
import { dtmfRelay, KEYS, keyOf } from '../../../src/dashboard/phone/phone-state.ts';
import { digitOf } from '../../../src/telephony/drachtio/leg/dtmf-methods.ts';

test('keyOf knows the telephone’s keys and no others', () => {
  expect(['0', '9', '*', '#'].map(keyOf)).toEqual(['0', '9', '*', '#']);
  expect(['a', 'Enter', '10', ''].map(keyOf)).toEqual([undefined, undefined, undefined, undefined]);
});

test.each(KEYS)('dtmfRelay(%s) is what the server reads', (key) => {
  expect(digitOf(dtmfRelay(key))).toBe(key);
});

test('levelDbfs is 0 for the loudest square, -3 for a sine, and -90 for silence', () => {
  const square = Float32Array.from({ length: 480 }, (_, index) => (index % 2 === 0 ? 1 : -1));
  const sine = Float32Array.from({ length: 480 }, (_, index) => Math.sin(index / 5));

  expect(levelDbfs(square)).toBe(0);
  expect(levelDbfs(sine)).toBeCloseTo(-3, 0);
  expect(levelDbfs(new Float32Array(480))).toBe(-90);
});

test('microphonesOf leaves out loudspeakers, and what the browser does not name yet', () => {
  const devices = [
    { kind: 'audioinput', deviceId: '', label: '' },
    { kind: 'audioinput', deviceId: 'unnamed', label: '' },
    { kind: 'audioinput', deviceId: 'a', label: 'Headset' },
    { kind: 'audiooutput', deviceId: 'b', label: 'Loudspeaker' },
  ];

  expect(microphonesOf(devices)).toEqual([{ deviceId: 'a', label: 'Headset' }]);
});

test('chosenOf is the remembered microphone only while it is there', () => {
  const microphones = [{ deviceId: 'a', label: 'Headset' }];

  expect(chosenOf(microphones, 'a')).toBe('a');
  expect(chosenOf(microphones, 'gone')).toBe('');
});

test.each([
  ['http://localhost:3000/#/agents/agent_1', 'ws://localhost:3000/dashboard/sip?ticket=abc'],
  ['https://voice.example.com/#/agents', 'wss://voice.example.com/dashboard/sip?ticket=abc'],
  ['https://example.com/phone/#/agents', 'wss://example.com/phone/dashboard/sip?ticket=abc'],
])('socketAddress seen from %s', (page, address) => {
  expect(socketAddress('ws://10.0.0.7:3000/dashboard/sip?ticket=abc', page)).toBe(address);
});
