import { expect, test } from 'vitest';
import { failureOf } from '../../src/call/session/end-reason.ts';
import { CarrierError } from '../../src/telephony/carrier.ts';

const refused = (status: number) => new CarrierError('No', status, { refusedWith: status });
const unreached = (status: number) =>
  new CarrierError('No', status, { refusedWith: status, isUnreached: true });

test.each([
  [refused(403), 403, /^The carrier does not let us call: check .* \(SIP 403\)\.$/],
  [refused(404), 404, 'The carrier does not know the called number (SIP 404).'],
  [refused(480), 480, 'No answer (SIP 480).'],
  [refused(486), 486, 'The called number is busy, or refused the call (SIP 486).'],
  [refused(488), 488, 'The far end accepts none of the codecs (SIP 488).'],
  [refused(302), 302, /^The carrier redirects the call .*, which is not followed \(SIP 302\)\.$/],
  [unreached(408), 408, 'The carrier gave no response (SIP 408).'],
  [unreached(503), 503, 'The carrier is out of reach (SIP 503).'],
  [refused(607), 607, 'The called party wants no calls from this number (SIP 607).'],
  [refused(608), 608, 'A service of the carrier took the call for an unwanted one (SIP 608).'],
  [refused(420), 420, 'The carrier refused the call (SIP 420).'],
  [refused(502), 502, 'The carrier could not put the call through (SIP 502).'],
])('failureOf(%o) has the status %i and says %s', (error, sipStatus, reason) => {
  expect(failureOf(error)).toEqual({
    sipStatus,
    reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
  });
});

test('failureOf a call that no far end refused has no SIP status', () => {
  const error = new CarrierError('Cannot place the call: drachtio-server is out of reach', 503);

  expect(failureOf(error)).toEqual({
    reason: 'Cannot place the call: drachtio-server is out of reach.',
    sipStatus: null,
  });
  expect(failureOf(new TypeError('secret'))).toEqual({
    reason: 'The server failed.',
    sipStatus: null,
  });
});
