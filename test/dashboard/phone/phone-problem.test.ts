/** What went wrong with a call, as one of few reasons; each has its words in every language. */
import { expect, test } from 'vitest';
import {
  PhoneError,
  problemOf,
  problemOfMicrophone,
  problemOfSip,
  problemOfTicket,
} from '../../../src/dashboard/phone/phone-state.ts';

function domException(name: string): Error {
  return Object.assign(new Error('in the browser’s words'), { name });
}

test.each([
  ['NotAllowedError', 'microphoneRefused'],
  ['NotFoundError', 'noMicrophone'],
  ['OverconstrainedError', 'noMicrophone'],
  ['NotReadableError', 'microphoneBusy'],
])('problemOfMicrophone(%s)', (name, kind) => {
  expect(problemOfMicrophone(domException(name))).toEqual({ kind });
});

test('problemOfMicrophone keeps the message of an unexpected error', () => {
  expect(problemOfMicrophone(domException('StrangeError'))).toEqual({
    kind: 'microphoneBusy',
    detail: 'in the browser’s words',
  });
  expect(problemOfMicrophone(undefined)).toEqual({ kind: 'microphoneBusy', detail: '' });
});

test.each([
  [0, 'unreachable'],
  [401, 'signedOut'],
  [404, 'agentGone'],
  [429, 'serverFull'],
  [503, 'serverFull'],
])('problemOfTicket(%d)', (status, kind) => {
  expect(problemOfTicket(status, 'why')).toEqual({ kind });
});

test.each([
  [404, 'agentGone'],
  [480, 'agentPaused'],
  [486, 'serverFull'],
  [503, 'serverFull'],
])('problemOfSip(%d)', (status, kind) => {
  expect(problemOfSip(status, 'why')).toEqual({ kind });
});

test('other refusals keep what the server said', () => {
  expect(problemOfTicket(403, 'Wrong origin')).toEqual({ kind: 'refused', detail: 'Wrong origin' });
  expect(problemOfSip(488, 'Not Acceptable Here')).toEqual({
    kind: 'refused',
    detail: 'SIP 488 Not Acceptable Here',
  });
});

test('problemOf takes a PhoneError’s own problem, and the words of any other', () => {
  expect(problemOf(new PhoneError({ kind: 'socketLost' }))).toEqual({ kind: 'socketLost' });
  expect(problemOf(new TypeError('boom'))).toEqual({ kind: 'refused', detail: 'boom' });
});
