/** State of the page's phone after each event, in any order. */
import { expect, test } from 'vitest';
import {
  AT_REST,
  afterPhoneEvent,
  isBusy,
  type PhoneEvent,
  type PhoneState,
  type PhoneStatus,
  talkedMs,
} from '../../../src/dashboard/phone/phone-state.ts';

const DIALLED: PhoneEvent = { kind: 'dialled' };
const HEARD: PhoneEvent = { kind: 'heard' };
const RANG: PhoneEvent = { kind: 'rang' };
const ANSWERED: PhoneEvent = { kind: 'answered', callId: 'call_1', atMs: 5000 };
const HUNG_UP: PhoneEvent = { kind: 'hungUp', by: 'here', atMs: 65_000 };
const FAILED: PhoneEvent = { kind: 'failed', problem: { kind: 'socketLost' }, atMs: 9000 };

function after(...events: readonly PhoneEvent[]): PhoneState {
  return events.reduce(afterPhoneEvent, AT_REST);
}

test.each<[PhoneStatus, readonly PhoneEvent[]]>([
  ['idle', []],
  ['asking', [DIALLED]],
  ['connecting', [DIALLED, HEARD]],
  ['ringing', [DIALLED, HEARD, RANG]],
  ['talking', [DIALLED, HEARD, RANG, ANSWERED]],
  ['talking', [DIALLED, HEARD, ANSWERED]],
  ['ended', [DIALLED, HEARD, RANG, ANSWERED, HUNG_UP]],
  ['ended', [DIALLED, FAILED]],
])('afterPhoneEvent leads to %s', (status, events) => {
  expect(after(...events).status).toBe(status);
});

test.each<[string, readonly PhoneEvent[], PhoneEvent]>([
  ['ringing after the answer', [DIALLED, HEARD, ANSWERED], RANG],
  ['an answer after the end', [DIALLED, HEARD, HUNG_UP], ANSWERED],
  ['a second end', [DIALLED, HEARD, HUNG_UP], { ...HUNG_UP, by: 'there', atMs: 66_000 }],
  ['a failure after the end', [DIALLED, HEARD, HUNG_UP], FAILED],
  ['hanging up at rest', [], HUNG_UP],
  ['dialling in a call', [DIALLED, HEARD, ANSWERED], DIALLED],
  ['a key before the answer', [DIALLED, HEARD, RANG], { kind: 'pressed', digit: '5' }],
  ['muting at rest', [], { kind: 'muted', isMuted: true }],
])('afterPhoneEvent changes nothing for %s', (_, events, late) => {
  const state = after(...events);

  expect(afterPhoneEvent(state, late)).toBe(state);
});

test('a new call forgets the one before', () => {
  const state = after(
    DIALLED,
    HEARD,
    ANSWERED,
    { kind: 'muted', isMuted: true },
    { kind: 'pressed', digit: '5' },
    FAILED,
    DIALLED,
  );

  expect(state).toEqual({ ...AT_REST, status: 'asking' });
});

test('a call is known by the name that its own answer gave it, to the end and no longer', () => {
  expect(after(DIALLED, HEARD, RANG).callId).toBeNull();
  expect(after(DIALLED, HEARD, RANG, ANSWERED, HUNG_UP).callId).toBe('call_1');
  expect(after(DIALLED, HEARD, RANG, ANSWERED, HUNG_UP, DIALLED).callId).toBeNull();
});

test('keys pressed are kept in order, and the oldest go first', () => {
  const keys = [...'0123456789'.repeat(4)].map((digit) => ({ kind: 'pressed', digit }) as const);

  const state = after(DIALLED, HEARD, ANSWERED, ...keys);

  expect(state.pressed).toBe(`89${'0123456789'.repeat(3)}`);
});

test('talkedMs counts from the answer to the end, and goes on until there is one', () => {
  expect(talkedMs(after(DIALLED, HEARD, RANG), 70_000)).toBe(0);
  expect(talkedMs(after(DIALLED, HEARD, ANSWERED), 70_000)).toBe(65_000);
  expect(talkedMs(after(DIALLED, HEARD, ANSWERED, HUNG_UP), 70_000)).toBe(60_000);
});

test('isBusy is true for what leaving would end', () => {
  expect([after(), after(DIALLED, HUNG_UP)].map(isBusy)).toEqual([false, false]);
  expect([after(DIALLED), after(DIALLED, HEARD, ANSWERED)].map(isBusy)).toEqual([true, true]);
});
