/** Which of our addresses packets leave from, and which are ours: asked of the system, and cached for a while. */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { LocalRoutes, ownAddressCheck } from '../../src/lib/local-routes.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** Answers with an address of its own for each far end, and counts how often it is asked. */
function countedRoutes() {
  const clock = new FakeClock();
  const asked: string[] = [];
  const ask = (farEnd: string) => {
    asked.push(farEnd);
    return farEnd.startsWith('10.') ? '10.0.0.5' : undefined;
  };
  return { clock, asked, routes: new LocalRoutes({ clock, ask }) };
}

test('LocalRoutes takes the address of the interface that the routing table picks', () => {
  const routes = new LocalRoutes({ clock: new FakeClock() });

  expect(routes.towards('0.0.0.0', '127.0.0.1')).toBe('127.0.0.1');
});

test.each(['0.0.0.0', '::'])('LocalRoutes never tells the wildcard %s', (wildcard) => {
  const routes = new LocalRoutes({ clock: new FakeClock() });

  const told = ['', '127.0.0.1', '::1', '198.51.100.1', '255.255.255.255'].map((farEnd) =>
    routes.towards(wildcard, farEnd),
  );

  expect(told.filter((address) => /^(0\.|::$)/.test(address))).toEqual([]);
  expect(told.every((address) => isIPv4(address) === (wildcard === '0.0.0.0'))).toBe(true);
});

test('LocalRoutes asks for no route where a socket listens on one address', () => {
  const { routes, asked } = countedRoutes();

  expect(routes.towards('192.0.2.7', '10.0.0.9')).toBe('192.0.2.7');
  expect(asked).toEqual([]);
});

test('LocalRoutes asks again after ten seconds', () => {
  const { routes, asked, clock } = countedRoutes();

  for (const passedMs of [0, 9_999, 1]) {
    clock.advance(passedMs);
    expect(routes.towards('0.0.0.0', '10.0.0.9')).toBe('10.0.0.5');
  }

  expect(asked).toEqual(['10.0.0.9', '10.0.0.9']);
});

test('LocalRoutes keeps a bounded number of far ends', () => {
  const { routes, asked } = countedRoutes();
  const farEnds = Array.from({ length: 1025 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);

  for (const farEnd of farEnds) routes.towards('0.0.0.0', farEnd);
  routes.towards('0.0.0.0', '10.1.0.0');

  expect(asked).toHaveLength(1026);
});

test('ownAddressCheck knows each address of the interfaces, as IPv4 in IPv6 too, and no other', () => {
  const isOwn = ownAddressCheck(systemClock);
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = all.map(({ address }) => address);
  const mapped = all
    .filter(({ family }) => family === 'IPv4')
    .map((each) => `::FFFF:${each.address}`);

  expect(own.length).toBeGreaterThan(0);
  expect([...own, ...mapped].filter((address) => !isOwn(address))).toEqual([]);
  expect(['203.0.113.77', '2001:db8::77', '', 'not an address'].filter(isOwn)).toEqual([]);
});
