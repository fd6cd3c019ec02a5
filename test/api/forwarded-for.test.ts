import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { clientAddressOf } from '../../src/api/http/request-identity.ts';
import { trustedProxies, trustNoProxy } from '../../src/domain/trusted-proxies.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openTestApi } from '../support/api/test-api.ts';

const isTrusted = trustedProxies(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

test.each([
  ['no proxy, no header', '203.0.113.7', undefined, '203.0.113.7'],
  ['no proxy, a header of the client', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
  ['one proxy', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['one proxy, whose socket is IPv6', '::ffff:127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['one proxy, a header of the client', '127.0.0.1', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ['two proxies', '127.0.0.1', '203.0.113.7, 10.0.0.4', '203.0.113.7'],
  ['a client inside the own network', '127.0.0.1', '10.0.0.9', '10.0.0.9'],
  ['a proxy that writes no header', '10.0.0.4', undefined, '10.0.0.4'],
  ['a proxy that hides the client', '10.0.0.4', '198.51.100.1, unknown', '10.0.0.4'],
  ['an empty header', '10.0.0.4', '', '10.0.0.4'],
  ['an address with a port', '10.0.0.4', '203.0.113.7:4711', '203.0.113.7'],
  ['an IPv6 client', '10.0.0.4', '2001:db8::7', '2001:db8::7'],
  ['an IPv6 client with a port', '10.0.0.4', '[2001:db8::7]:4711', '2001:db8::7'],
  ['a socket that is gone', undefined, '203.0.113.7', undefined],
])('clientAddressOf with %s', (_case, remoteAddress, forwardedFor, expected) => {
  expect(clientAddressOf({ remoteAddress, forwardedFor }, isTrusted)).toBe(expected);
});

test('clientAddressOf believes nothing that a client writes itself', () => {
  const client = fc.ipV4().filter((address) => !isTrusted(address));
  const written = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 8 });
  const proxies = fc.array(fc.nat(0xffff), { maxLength: 3 });
  fc.assert(
    fc.property(client, written, proxies, (address, ownHops, hosts) => {
      const chain = hosts.map((host) => `10.0.${host >> 8}.${host & 0xff}`);
      const forwardedFor = [...ownHops, address, ...chain].join(', ');

      const behindProxies = clientAddressOf(
        { remoteAddress: '127.0.0.1', forwardedFor },
        isTrusted,
      );
      const direct = clientAddressOf({ remoteAddress: address, forwardedFor }, isTrusted);
      const untold = clientAddressOf({ remoteAddress: '127.0.0.1', forwardedFor }, trustNoProxy);

      expect([behindProxies, direct, untold]).toEqual([address, address, '127.0.0.1']);
    }),
  );
});

test('clientAddressOf reads any header, and names an address or the socket', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (forwardedFor) => {
      const address = clientAddressOf({ remoteAddress: '10.0.0.4', forwardedFor }, isTrusted);

      expect(address).toMatch(/^[0-9a-fA-F.:]+(%.+)?$/);
    }),
  );
});

test('Rate limit counts the clients behind a trusted proxy apart, and not what they say they are', async () => {
  const api = await openTestApi({ isTrustedProxy: isTrusted });
  const remaining = async (forwardedFor: string, remoteAddress = '127.0.0.1') => {
    const headers = { 'X-Forwarded-For': forwardedFor };
    const response = await api.request('GET', '/api/agents', { key: null, headers, remoteAddress });
    return response.headers.get('X-RateLimit-Remaining');
  };

  const first = await remaining('203.0.113.7');
  const other = await remaining('203.0.113.8');
  const spoofed = await remaining('198.51.100.1, 203.0.113.7');
  const untrusted = await remaining('203.0.113.7', '192.0.2.1');

  expect([first, other, spoofed, untrusted]).toEqual(['999', '999', '998', '999']);
});

test('HttpServer counts a request that cannot be read for the client behind a trusted proxy', async () => {
  const counted: string[] = [];
  const server = new HttpServer({
    ...{ host: '127.0.0.1', port: 0, clock: systemClock, newId: () => 'req_0' },
    fetch: () => new Response(null),
    rates: { count: async (subject) => counted.push(subject) },
    isTrustedProxy: isTrusted,
  });
  const port = await server.start();
  const lines = [
    'GET / HTTP/1.1',
    'Host: a b',
    'X-Forwarded-For: 203.0.113.7',
    'Connection: close',
  ];

  const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
  await once(socket.resume(), 'close');
  await server.stop();

  expect(counted).toEqual(['address:203.0.113.7']);
});
