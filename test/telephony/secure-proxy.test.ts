/** Which proxy stands for an IP address over TLS. */
import { expect, test } from 'vitest';
import { secureProxyFor } from '../../src/telephony/trunks/trunk-table.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';

const ACME = {
  name: 'acme',
  proxy: 'sip.acme.example:5063;transport=tls',
  allowedSources: ['192.0.2.0/24', '2001:db8::/32'],
};
const OTHER = {
  name: 'other',
  proxy: 'sips:sip.other.example',
  allowedSources: ['198.51.100.1'],
};
const PLAIN = { name: 'plain', proxy: 'sip.plain.example', allowedSources: ['203.0.113.1'] };

const ACME_PROXY = 'sip:sip.acme.example:5063;transport=tls';
const OTHER_PROXY = 'sips:sip.other.example';

const trunksOf = (...trunks: readonly object[]) => parseTrunks(JSON.stringify(trunks));

test.each([
  ['a Contact', 'sip:joe@192.0.2.7:5061;transport=tls', ACME_PROXY],
  ['an IPv6 address', 'sip:joe@[2001:db8::7]:5061;transport=TLS', ACME_PROXY],
  ['a Route', '<sip:192.0.2.7;transport=tls;lr>', ACME_PROXY],
  ['a sips address', 'sips:joe@198.51.100.1', OTHER_PROXY],
  ['an address of no trunk', 'sip:joe@203.0.113.9;transport=tls', undefined],
  ['a name, which the peer can prove', 'sip:joe@gw.acme.example;transport=tls', undefined],
  ['UDP', 'sip:joe@192.0.2.7', undefined],
  ['TCP', 'sip:joe@192.0.2.7;transport=tcp', undefined],
  ['nothing', '', undefined],
])('secureProxyFor finds the proxy for %s: %s', (_, nextHop, proxy) => {
  expect(secureProxyFor(trunksOf(PLAIN, ACME, OTHER), nextHop)).toBe(proxy);
});

test('secureProxyFor takes the only trunk with TLS for an address of no trunk', () => {
  const nextHop = 'sip:joe@203.0.113.9;transport=tls';

  expect(secureProxyFor(trunksOf(PLAIN, ACME), nextHop)).toBe(ACME_PROXY);
  expect(secureProxyFor(trunksOf(PLAIN), nextHop)).toBeUndefined();
});

test('secureProxyFor knows no better way to a proxy that is an IP address', () => {
  const trunks = trunksOf({ ...ACME, proxy: '192.0.2.1;transport=tls' });

  expect(secureProxyFor(trunks, 'sip:joe@192.0.2.7;transport=tls')).toBeUndefined();
});
