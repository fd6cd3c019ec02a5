/** Keep-alive of registered flows: on a clock that the test turns, and over real sockets. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { makeResponse } from '../../src/sip/message/message.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { FlowKeeper } from '../../src/sip/transport/flow-keeper.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request, responseTo } from './messages.ts';

const PING = '\r\n\r\n';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function openKeeper(random = 0) {
  const clock = new FakeClock();
  const lost: string[] = [];
  const keeper = new FlowKeeper({ clock, random: () => random, onLost: (id) => lost.push(id) });
  const register = (flow: FakeFlow, callId = 'a', expires = '3600', granted = expires) => {
    const sent = request('REGISTER').set('call-id', callId).set('expires', expires);
    keeper.registered(sent, responseTo(sent, 200).set('expires', granted), flow);
  };
  return { clock, keeper, lost, register };
}

test.each([
  ['UDP', 0, 25_000],
  ['UDP', 1, 20_000],
  ['TCP', 0, 120_000],
  ['TCP', 1, 96_000],
] as const)('FlowKeeper lets %s be silent no longer than the limit less the jitter of %d', (protocol, random, silenceMs) => {
  const { clock, register } = openKeeper(random);
  const flow = new FakeFlow(protocol);
  register(flow);

  clock.advance(silenceMs - 1);
  const before = flow.keepAlives;
  clock.advance(1 + 2 * silenceMs);

  expect([before, flow.keepAlives]).toEqual([0, 3]);
});

test('FlowKeeper sends one keep-alive for all registrations of a flow', () => {
  const { clock, keeper, register } = openKeeper();
  const flow = new FakeFlow();
  register(flow, 'a');
  register(new FakeFlow(), 'b');
  register(flow, 'a');

  clock.advance(25_000);

  expect([flow.keepAlives, keeper.size, clock.waiting]).toEqual([1, 1, 1]);
});

test('FlowKeeper keeps the flow of the newest REGISTER alone', () => {
  const { clock, keeper, register } = openKeeper();
  const [former, flow] = [new FakeFlow('TCP'), new FakeFlow('TCP')];
  register(former);
  register(flow);

  former.close();
  clock.advance(120_000);

  expect([former.keepAlives, flow.keepAlives, keeper.size]).toEqual([0, 1, 1]);
});

test.each([
  ['has expired', ({ clock }: ReturnType<typeof openKeeper>) => clock.advance(3_600_000 + 25_000)],
  [
    'is taken back',
    ({ register }: ReturnType<typeof openKeeper>) => register(new FakeFlow(), 'a', '0'),
  ],
  ['has to stop', ({ keeper }: ReturnType<typeof openKeeper>) => keeper.stop()],
])('FlowKeeper leaves nothing behind when the registration %s', (_what, end) => {
  const world = openKeeper();
  world.register(new FakeFlow());

  end(world);

  expect([world.keeper.size, world.clock.waiting, world.lost]).toEqual([0, 0, []]);
});

test('FlowKeeper keeps a flow for as long as the registrar grants, where that is longer', () => {
  const { clock, keeper, register } = openKeeper();
  register(new FakeFlow(), 'a', '60', '600');

  clock.advance(590_000);
  const before = keeper.size;
  clock.advance(50_000);

  expect([before, keeper.size]).toEqual([1, 0]);
});

test('FlowKeeper tells of every valid registration whose connection closes, once', () => {
  const { clock, lost, register } = openKeeper();
  const flow = new FakeFlow('TCP');
  register(flow, 'short', '60');
  register(flow, 'a');
  register(flow, 'b');
  clock.advance(61_000);

  flow.close();
  flow.close();

  expect(lost).toEqual(['a', 'b']);
});

async function openAgent() {
  const clock = new FakeClock(1000);
  const lost: string[] = [];
  const listen = (['UDP', 'TCP'] as const).map((protocol) => ({
    ...{ protocol, address: '127.0.0.1', port: 0 },
  }));
  const agent = new UserAgent({ listen, clock, onRegistrationLost: (id) => lost.push(id) });
  await agent.start();
  closers.push(() => agent.stop());
  const register = (uri: string) =>
    agent.request({ method: 'REGISTER', uri, callId: 'reg-1', headers: { Expires: '3600' } });
  return { agent, clock, lost, register };
}

const okTo = (bytes: Buffer) => makeResponse(parseMessage(bytes), 200, 'OK', 'tag').toBuffer();

test('UserAgent keeps the way of its UDP registration open', async () => {
  const registrar = createSocket('udp4').bind(0, '127.0.0.1');
  closers.push(() => registrar.close());
  await once(registrar, 'listening');
  const came: string[] = [];
  registrar.on('message', (bytes, { port, address }) => {
    came.push(bytes.toString());
    if (bytes.length > PING.length) registrar.send(okTo(bytes), port, address);
  });
  const { clock, register } = await openAgent();

  await register(`sip:127.0.0.1:${registrar.address().port}`);
  clock.advance(25_000);

  await expect.poll(() => came.slice(1)).toEqual([PING]);
});

/** A registrar over TCP that answers the first `pongs` keep-alives. */
async function openTcpRegistrar(pongs: number) {
  const sockets: Socket[] = [];
  const pings: number[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      if (bytes.toString() !== PING) socket.write(okTo(bytes));
      else if (pings.push(sockets.length) <= pongs) socket.write('\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { pings, sockets, uri: `sip:127.0.0.1:${port};transport=tcp` };
}

/** Turns the clock to the next keep-alive, and waits until it has arrived. */
async function nextPing(
  { clock }: Awaited<ReturnType<typeof openAgent>>,
  { pings }: Awaited<ReturnType<typeof openTcpRegistrar>>,
) {
  const count = pings.length;
  clock.advance(120_000);
  await expect.poll(() => pings.length).toBeGreaterThan(count);
}

test('UserAgent gives up a registration’s connection that answers keep-alive no more, and registers over another', async () => {
  const registrar = await openTcpRegistrar(1);
  const world = await openAgent();
  const { agent, clock, lost, register } = world;
  await register(registrar.uri);
  await nextPing(world, registrar);
  // The pong is under way; it is to be here before time goes on.
  await new Promise((resolve) => setTimeout(resolve, 50));
  clock.advance(10_000);
  const afterPong = [agent.sizes.connections, ...lost];

  await nextPing(world, registrar);
  clock.advance(10_000);
  const afterSilence = [agent.sizes.connections, ...lost];
  const { status } = await register(registrar.uri);

  expect([afterPong, afterSilence]).toEqual([[1], [0, 'reg-1']]);
  expect([status, registrar.sockets.length]).toEqual([200, 2]);
});

test('UserAgent leaves the connection of a registrar that never answers keep-alive', async () => {
  const registrar = await openTcpRegistrar(0);
  const world = await openAgent();
  await world.register(registrar.uri);

  for (let turn = 0; turn < 3; turn += 1) {
    await nextPing(world, registrar);
    world.clock.advance(10_000);
  }

  expect([world.agent.sizes.connections, world.lost]).toEqual([1, []]);
});

test('UserAgent tells of a registration whose registrar closes the connection', async () => {
  const registrar = await openTcpRegistrar(0);
  const { lost, register } = await openAgent();
  await register(registrar.uri);

  registrar.sockets[0]?.destroy();

  await expect.poll(() => lost).toEqual(['reg-1']);
});
