/** Where answers go, as the top Via and the true source say. */
import { expect, test } from 'vitest';
import { responseEndpoint, stampReceived } from '../../src/sip/transport/flow.ts';
import { request } from './messages.ts';

const SOURCE = { address: '203.0.113.7', port: 40_000 };

test.each([
  // Via as it came, as it is after the stamp, the port that answers go to.
  ['192.0.2.1:5070;branch=z9hG4bKa', '192.0.2.1:5070;branch=z9hG4bKa;received=203.0.113.7', 5070],
  ['192.0.2.1;branch=z9hG4bKa', '192.0.2.1;branch=z9hG4bKa;received=203.0.113.7', 5060],
  ['203.0.113.7:5070;branch=z9hG4bKa', '203.0.113.7:5070;branch=z9hG4bKa', 5070],
  [
    '192.0.2.1:5070;rport;branch=z9hG4bKa',
    '192.0.2.1:5070;rport=40000;branch=z9hG4bKa;received=203.0.113.7',
    40_000,
  ],
  // What the peer claims is not believed.
  [
    '192.0.2.1;received=10.0.0.1;rport=1;branch=z9hG4bKa',
    '192.0.2.1;received=203.0.113.7;rport=40000;branch=z9hG4bKa',
    40_000,
  ],
  ['192.0.2.1;maddr=239.0.0.1;branch=z9hG4bKa', null, 5060],
])('stampReceived turns %s into %s, answered at port %i', (sentBy, stamped, port) => {
  const invite = request('INVITE', { Via: `SIP/2.0/UDP ${sentBy}` });

  const via = stampReceived(invite, SOURCE);

  if (stamped !== null) expect(invite.get('via')).toBe(`SIP/2.0/UDP ${stamped}`);
  expect(responseEndpoint(via, SOURCE)).toEqual({ address: SOURCE.address, port });
});

test('stampReceived leaves the Vias below alone, on the same line and on others', () => {
  const invite = request('INVITE', { Via: 'SIP/2.0/UDP 192.0.2.1;rport, SIP/2.0/TCP 192.0.2.8' });
  invite.add('via', 'SIP/2.0/UDP 192.0.2.9');

  stampReceived(invite, SOURCE);

  expect(invite.list('via')).toEqual([
    'SIP/2.0/UDP 192.0.2.1;rport=40000;received=203.0.113.7',
    'SIP/2.0/TCP 192.0.2.8',
    'SIP/2.0/UDP 192.0.2.9',
  ]);
});
