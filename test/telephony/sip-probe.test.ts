import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { probeSip, type SipClient } from '../../src/telephony/freeswitch/sip-probe.ts';

const URI = 'sip:mod_sofia@127.0.0.1:5280';

/** A SIP server that answers an INVITE as the test says. */
function clientThat(createUAC: SipClient['createUAC']): SipClient {
  return { on: () => undefined, createUAC };
}

function refusal(status: number): Error {
  return Object.assign(new Error('refused'), { status });
}

test.each([
  ['a refusal by the dialplan', refusal(404), { kind: 'open' }],
  [
    'an ACL',
    refusal(403),
    { kind: 'closed', problem: expect.stringContaining('FREESWITCH_TRUSTED') },
  ],
  ['no way there', refusal(503), { kind: 'closed', problem: expect.stringContaining('503') }],
  [
    'a SIP server that cannot send there',
    new Error('requested protocol/transport not available'),
    { kind: 'closed', problem: expect.stringContaining('transport not available') },
  ],
  [
    'a connection that is closed',
    Object.assign(new Error('destroyed'), { code: 'ESOCKETDESTROYED' }),
    { kind: 'unknown' },
  ],
])('probeSip judges %s', async (_, error, result) => {
  const client = clientThat((_uri, _options, _progress, answer) => answer(error));

  expect(await probeSip(client, URI, systemClock)).toEqual(result);
});

test('probeSip knows nothing without a connection to the SIP server', async () => {
  const client = clientThat(() => {
    throw new TypeError('Cannot send: no socket');
  });

  expect(await probeSip(client, URI, systemClock)).toEqual({ kind: 'unknown' });
});

test('probeSip ends a leg that FreeSWITCH makes all the same', async () => {
  let ends = 0;
  const dialog = { destroy: async () => (ends += 1) };
  const client = clientThat((_uri, _options, _progress, answer) => answer(null, dialog));

  expect(await probeSip(client, URI, systemClock)).toEqual({ kind: 'open' });
  expect(ends).toBe(1);
});
