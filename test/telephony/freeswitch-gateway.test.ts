import { expect, test } from 'vitest';
import type { FreeSwitchGateway } from '../../src/telephony/freeswitch/freeswitch-gateway.ts';
import { FROM, HOLD, OFFER, openGateway } from './support/freeswitch-world.ts';

const stateOf = (gateway: FreeSwitchGateway) => gateway.reports()[0]?.state;

test('FreeSwitchGateway bridges the carrier to the engine, and leaves nothing behind', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();

  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const during = double.legs;
  const { localSdp, channels } = endpoint;
  await endpoint.close();

  expect(channels).toEqual(expect.arrayContaining([...during]));
  expect(during).toHaveLength(2);
  expect(localSdp).toContain('a=sendrecv');
  expect(lines.opened[0]?.remotes[0]).toMatchObject({ codec: 'PCMU', maySend: true });
  expect(lines.opened[0]?.isClosed).toBe(true);
  await expect.poll(() => double.legs).toEqual([]);
});

test('FreeSwitchGateway offers before it knows the far end, and tells FreeSWITCH the answer', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ ...FROM, codecs: ['PCMA'] });
  const offered = endpoint.localSdp;

  await endpoint.negotiate(OFFER);
  await endpoint.negotiate(OFFER);

  expect(offered).toContain('RTP/AVP 8 101');
  expect(endpoint.localSdp).toBe(offered);
  expect(double.modified).toHaveLength(1);
  expect(double.modified[0]).toContain('RTP/AVP 8 101');
});

test('FreeSwitchGateway tells FreeSWITCH where the RTP of a far end behind a NAT comes from, and the far end nothing', async () => {
  const { double, lines, gateway } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ remoteSdp: OFFER, signallingAddress: '203.0.113.50' });
  const [outer = ''] = endpoint.channels;
  const told = endpoint.localSdp;
  await expect.poll(() => double.events.commands).toContain(`uuid_debug_media ${outer} read on`);

  for (const sequence of [7, 8, 9, 10]) {
    const places = '127.0.0.1:40002 192.0.2.1:4000 203.0.113.50:61000';
    double.events.log(outer, `R sofia/a b= 172 ${places} pt=0 ts=160 seq=${sequence} m=0\n`);
  }
  await expect.poll(() => double.modified).toHaveLength(1);
  (lines.opened[0] ?? expect.fail()).packetsReceived = 1;

  expect(double.modified[0]).toContain('c=IN IP4 203.0.113.50\r\n');
  expect(double.modified[0]).toContain('m=audio 61000 RTP/AVP ');
  expect(endpoint.localSdp).toBe(told);
  await expect.poll(() => double.events.commands).toContain(`uuid_debug_media ${outer} read off`);
});

test('FreeSwitchGateway tells the far end the address that it is given', async () => {
  const { gateway } = await openGateway();
  await gateway.start();
  const told = { ...FROM, advertisedAddress: '203.0.113.10' };

  const answering = await gateway.open({ ...told, remoteSdp: OFFER });
  const offering = await gateway.open(told);

  for (const { localSdp } of [answering, offering]) {
    expect(localSdp).toContain('c=IN IP4 203.0.113.10\r\n');
    expect(localSdp).not.toContain('127.0.0.1');
  }
});

test('FreeSwitchGateway holds both legs, so that the silence of the engine is not its death', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });

  await endpoint.negotiate(HOLD);
  await endpoint.negotiate(OFFER);

  const directions = double.modified.map((sdp) => /a=(sendonly|inactive|sendrecv)/.exec(sdp)?.[1]);
  expect(directions).toEqual(['sendonly', 'inactive', undefined, 'sendrecv']);
  expect(lines.opened[0]?.remotes.map(({ maySend }) => maySend)).toEqual([true, false, true]);
});

test('FreeSwitchGateway asks again when FreeSWITCH is busy with a change of its own', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open(FROM);
  double.refusals.push(491, 491);

  await endpoint.negotiate(OFFER);

  expect(double.modified).toHaveLength(3);
});

test('FreeSwitchGateway goes on after a change that FreeSWITCH refused', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });
  double.refusals.push(488);

  await expect(endpoint.negotiate(HOLD)).rejects.toMatchObject({ sipStatus: 488 });

  await expect(endpoint.negotiate(HOLD)).resolves.toContain('v=0');
});

test('FreeSwitchGateway gives another far end the same leg, and the former one again where that fails', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = OFFER.replaceAll('192.0.2.1', '192.0.2.2');
  const legs = [...double.legs];

  const untouched = endpoint.prepareMove();
  endpoint.offer();
  await untouched();
  const before = double.modified.length;
  const restore = endpoint.prepareMove();
  endpoint.offer();
  await endpoint.negotiate(other);
  await restore();

  const addresses = double.modified.map((sdp) => /c=IN IP4 (\S+)/.exec(sdp)?.[1]);
  expect([before, addresses]).toEqual([0, ['192.0.2.2', '192.0.2.1']]);
  expect(double.legs).toEqual(legs);
});

test.each([
  ['no SDP', 'nonsense', 400],
  ['no codec of the trunk', OFFER.replace('8 0 101', '18'), 488],
])('FreeSwitchGateway refuses %s before it costs a port', async (_, remoteSdp, sipStatus) => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();

  const opening = gateway.open({ ...FROM, remoteSdp, codecs: ['PCMU', 'PCMA'] });

  await expect(opening).rejects.toMatchObject({ name: 'MediaError', sipStatus });
  expect(double.legs).toEqual([]);
  expect(lines.opened).toEqual([]);
});

test('FreeSwitchGateway passes on that FreeSWITCH finds no codec, and frees the port', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  double.inviteStatus = 488;

  await expect(gateway.open({ ...FROM, remoteSdp: OFFER })).rejects.toMatchObject({
    sipStatus: 488,
  });

  expect(lines.opened[0]?.isClosed).toBe(true);
});

test('FreeSwitchGateway says media-lost when FreeSWITCH dies, and works again when it is back', async () => {
  const { gateway, double } = await openGateway();
  await gateway.start();
  const endpoint = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const events: string[] = [];
  endpoint.audio.onEvent(({ kind }) => events.push(kind));

  await double.die();
  await expect.poll(() => events).toEqual(['media-lost']);
  const refused = gateway.open({ ...FROM, remoteSdp: OFFER });
  await expect(refused).rejects.toMatchObject({ sipStatus: 503 });
  const problem = stateOf(gateway);
  await double.events.start();
  await expect.poll(() => gateway.reports()[0]?.isReady, { timeout: 5_000 }).toBe(true);
  const again = await gateway.open({ ...FROM, remoteSdp: OFFER });

  expect(problem).toContain('no media through 127.0.0.1:');
  expect(again.channels).toHaveLength(2);
});

test.each([
  ['starting', 'it takes no calls yet'],
  ['bare', 'it has no SIP profile "offhook_outer"'],
  ['rude', 'it takes no connections from our address'],
  ['garbage', 'a header has no name'],
] as const)('FreeSwitchGateway starts without a server that is %s, and says why', async (mood, why) => {
  const { gateway, double } = await openGateway();
  double.events.mood = mood;

  await gateway.start();
  const state = stateOf(gateway);
  double.events.mood = 'well';

  expect(state).toContain(why);
  await expect.poll(() => gateway.reports()[0]?.isReady, { timeout: 5_000 }).toBe(true);
});

test('FreeSwitchGateway lets a start go on where the server takes connections and says nothing', async () => {
  const { gateway, double } = await openGateway();
  double.events.mood = 'mute';

  const startedMs = performance.now();
  await gateway.start();
  const tookMs = performance.now() - startedMs;
  const state = stateOf(gateway);
  double.events.mood = 'well';

  expect(tookMs).toBeLessThan(2_500);
  expect(state).toBe(`connecting to FreeSWITCH at 127.0.0.1:${double.events.port}`);
  await expect.poll(() => gateway.reports()[0]?.isReady, { timeout: 5_000 }).toBe(true);
});

test.each([
  [
    403,
    'it refuses our SIP with 403: the address that SIP is sent from has to be in FREESWITCH_TRUSTED',
  ],
  [503, 'it does not answer SIP (503)'],
  [0, 'it does not answer SIP at 127.0.0.1:'],
])('FreeSwitchGateway is not ready while SIP to FreeSWITCH comes to %i, and says why', async (status, why) => {
  const { gateway, double } = await openGateway();
  double.probeStatus = status;

  await gateway.start();
  await expect.poll(() => stateOf(gateway), { timeout: 5_000 }).toContain(why);
  const [report] = gateway.reports();
  const refused = gateway.open({ ...FROM, remoteSdp: OFFER });
  await expect(refused).rejects.toMatchObject({ sipStatus: 503 });
  const { invites } = double;
  double.probeStatus = 404;

  expect([report?.isReady, invites]).toEqual([false, 0]);
  await expect.poll(() => gateway.reports()[0]?.isReady, { timeout: 10_000 }).toBe(true);
});

test('FreeSwitchGateway gives a bridge up that never comes about, and ends both legs', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  double.doesBridge = false;

  await expect(gateway.open({ ...FROM, remoteSdp: OFFER })).rejects.toMatchObject({
    sipStatus: 503,
  });

  expect(double.events.commands.filter((command) => command.startsWith('uuid_kill'))).toHaveLength(
    2,
  );
  expect(lines.opened[0]?.isClosed).toBe(true);
});

test('FreeSwitchGateway ends the legs that a process before it has left', async () => {
  const { gateway, double } = await openGateway({ orphanChannels: ['leg-a', 'leg-b'] });

  await gateway.start();

  expect(double.events.commands).toEqual(
    expect.arrayContaining(['uuid_kill leg-a', 'uuid_kill leg-b']),
  );
});
