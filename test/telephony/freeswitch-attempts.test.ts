import { expect, test } from 'vitest';
import { FROM, OFFER, openGateway } from './support/freeswitch-world.ts';

test('FreeSwitchGateway recreates both legs at once when FreeSWITCH answers one and hangs it up', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  double.endingAtOnce = 1;
  const startedMs = performance.now();

  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });

  expect(performance.now() - startedMs).toBeLessThan(3_000);
  expect(double.invites).toBe(4);
  expect(lines.opened.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  await expect.poll(() => [...double.legs].sort()).toEqual([...endpoint.channels].sort());
});

test.each([
  ['DTLS-SRTP', OFFER.replace('RTP/AVP', 'UDP/TLS/RTP/SAVPF')],
  ['SRTP without keys', OFFER.replace('RTP/AVP', 'RTP/SAVP')],
  ['an IPv6 address', OFFER.replace('c=IN IP4 192.0.2.1', 'c=IN IP6 2001:db8::1')],
])('FreeSwitchGateway refuses %s with 488 and asks FreeSWITCH for no leg', async (_, remoteSdp) => {
  const { gateway, double } = await openGateway();
  await gateway.start();

  await expect(gateway.open({ ...FROM, remoteSdp })).rejects.toMatchObject({ sipStatus: 488 });

  expect(double.invites).toBe(0);
});

test('FreeSwitchGateway says why FreeSWITCH took the legs back when all its attempts have failed', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  double.endingAtOnce = 6;

  const opening = gateway.open({ ...FROM, remoteSdp: OFFER });

  await expect(opening).rejects.toMatchObject({
    sipStatus: 503,
    message: expect.stringContaining('text="INCOMPATIBLE_DESTINATION"'),
  });
  expect(double.invites).toBe(6);
  expect(lines.opened.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
  expect(double.legs).toEqual([]);
});

test('FreeSwitchGateway makes the legs at another server than the one that failed', async () => {
  const { gateway, doubles, lines } = await openGateway({ servers: 2 });
  await gateway.start();
  const [first, second] = doubles;
  for (const double of doubles) double.inviteStatus = 503;
  const turned = gateway.open({ ...FROM, remoteSdp: OFFER });
  await expect(turned).rejects.toMatchObject({ sipStatus: 503 });
  const both = doubles.map(({ invites }) => invites);
  if (second !== undefined) second.inviteStatus = 200;

  await gateway.open({ ...FROM, remoteSdp: OFFER });
  await gateway.open({ ...FROM, remoteSdp: OFFER });

  expect(Math.min(...both)).toBeGreaterThan(0);
  expect(second?.legs).toHaveLength(4);
  expect(first?.legs).toEqual([]);
  expect(lines.opened.filter(({ isClosed }) => !isClosed)).toHaveLength(2);
});

test('FreeSwitchGateway makes the legs at another server when the first dies before it has answered', async () => {
  const { gateway, doubles } = await openGateway({ servers: 2 });
  await gateway.start();
  const [first, second] = doubles;
  for (const double of doubles) double.inviteStatus = 180;
  const startedMs = performance.now();

  const opening = gateway.open({ ...FROM, remoteSdp: OFFER });
  await expect.poll(() => doubles.map(({ invites }) => invites).sort()).toEqual([0, 2]);
  const [asked, other] = first?.invites === 2 ? [first, second] : [second, first];
  if (other !== undefined) other.inviteStatus = 200;
  await asked?.die();
  const endpoint = await opening;

  expect(performance.now() - startedMs).toBeLessThan(3_000);
  expect([...(other?.legs ?? [])].sort()).toEqual([...endpoint.channels].sort());
});

test('FreeSwitchGateway recreates both legs when FreeSWITCH does not connect back for one', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  double.forgetting = 1;

  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });

  expect(double.invites).toBe(4);
  await expect.poll(() => [...double.legs].sort()).toEqual([...endpoint.channels].sort());
});
