/** The whole SIP engine under invalid messages: it answers or drops them, and goes on. */
import type { RemoteInfo } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import type { Resolver } from '../../src/sip/transport/next-hop.ts';
import { type OpenUdpSocket, openUdpSocket } from '../../src/sip/transport/transport-udp.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { seededChance } from '../support/sip/sip-mutants.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request, SDP } from './messages.ts';
import { SHORT_TIMERS } from './user-agents.ts';

const FOLDER = 'test/fixtures/rfc4475';
const TORTURE = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.dat'))
  .sort()
  .map((file) => readFileSync(`${FOLDER}/${file}`));
const MUTANTS = 3000;
const SOURCE: RemoteInfo = { address: '192.0.2.1', port: 5060, family: 'IPv4', size: 0 };
/** Makes one listener do for both of the socket's events. */
const NO_ERROR = { name: '', message: '' };

/** A user agent on a socket without a network, that answers every call and request. */
async function startOffline() {
  const clock = new FakeClock();
  const faults: object[] = [];
  const sent: Buffer[] = [];
  let deliver: (bytes: Buffer) => void = () => undefined;
  const openUdpSocket: OpenUdpSocket = () => ({
    bind: (_port, _address, listening) => listening(),
    send: (bytes) => sent.push(bytes),
    close: (closed) => closed(),
    address: () => ({ port: 5060 }),
    off: () => undefined,
    on: (event: string, listener: (bytes: Buffer & Error, source: RemoteInfo) => void) => {
      if (event === 'message')
        deliver = (bytes) => listener(Object.assign(bytes, NO_ERROR), SOURCE);
    },
  });
  const logger: Logger = { ...silentLogger, error: (fields) => faults.push(fields) };
  const listen = [{ protocol: 'UDP', address: '192.0.2.2', port: 5060 }] as const;
  const resolver: Resolver = { addresses: async () => [], services: async () => [] };
  const userAgent = new UserAgent({ listen, clock, logger, openUdpSocket, resolver });
  await userAgent.start();
  userAgent.on('request', ({ respond }) => respond(200));
  userAgent.on('invite', (invite) => {
    invite.progress(180);
    const { dialog } = invite.accept({ body: SDP });
    dialog.on('request', ({ respond }) => respond(200));
    dialog.on('reinvite', ({ respond }) => respond(200, { body: SDP }));
  });
  return { clock, faults, sent, userAgent, deliver: (bytes: Buffer) => deliver(bytes) };
}

/** One to four octets changed, taken away, or a piece said twice. */
function mutantOf(bytes: Buffer, chance: () => number): Buffer {
  let mutant = Buffer.from(bytes);
  for (let changes = 1 + Math.floor(chance() * 4); changes > 0; changes--) {
    const at = Math.floor(chance() * mutant.length);
    const until = at + Math.floor(chance() * 20);
    const kind = chance();
    if (kind < 0.5) mutant[at] = Math.floor(chance() * 256);
    else if (kind < 0.75) mutant = Buffer.concat([mutant.subarray(0, at), mutant.subarray(until)]);
    else mutant = Buffer.concat([mutant.subarray(0, until), mutant.subarray(at)]);
  }
  return mutant;
}

async function expectSound(world: Awaited<ReturnType<typeof startOffline>>): Promise<void> {
  const { clock, deliver, faults, sent, userAgent } = world;
  const via = 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKafter;rport';
  deliver(request('OPTIONS', { 'Call-ID': 'after', Via: via }).toBuffer());
  const answer = parseMessage(sent.at(-1) ?? Buffer.alloc(0));
  for (let minute = 0; minute < 15; minute++) {
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect([answer.status, answer.callId]).toEqual([200, 'after']);
  expect(faults).toEqual([]);
  expect(userAgent.sizes).toEqual({ transactions: 0, dialogs: 0, connections: 0 });
  await userAgent.stop();
  expect(clock.waiting).toBe(0);
}

test('UserAgent serves on after all messages of RFC 4475', async () => {
  const world = await startOffline();

  for (const bytes of TORTURE) world.deliver(bytes);

  await expectSound(world);
});

test('UserAgent serves on after mutants of calls and of the messages of RFC 4475', async () => {
  const world = await startOffline();
  const chance = seededChance(4475);
  const calls = ['INVITE', 'ACK', 'BYE', 'CANCEL', 'UPDATE', 'PRACK', 'OPTIONS', 'REFER'].map(
    (method) =>
      request(method, {
        Supported: 'timer, 100rel',
        'Session-Expires': '1800',
        'Record-Route': '<sip:192.0.2.7;lr>, <sip:192.0.2.8>',
      }).toBuffer(),
  );
  const seeds = [...TORTURE, ...calls, ...calls, ...calls];

  for (let count = 0; count < MUTANTS; count++) {
    const seed = seeds[Math.floor(chance() * seeds.length)] ?? Buffer.alloc(0);
    world.deliver(mutantOf(seed, chance));
  }

  expect(world.userAgent.counts.messagesIn).toBeGreaterThan(MUTANTS * 0.9);
  expect(world.sent.length).toBeGreaterThan(MUTANTS / 10);
  await expectSound(world);
});

/** A user agent on a real socket, and a way to hand that socket datagrams as if they came from port 0. */
async function startOnline(resolver?: Resolver) {
  let deliver: (bytes: Buffer) => void = () => undefined;
  const userAgent = new UserAgent({
    listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }],
    timers: SHORT_TIMERS,
    ...(resolver && { resolver }),
    openUdpSocket: (address) => {
      const socket = openUdpSocket(address);
      const source: RemoteInfo = { address: '127.0.0.1', port: 0, family: 'IPv4', size: 0 };
      deliver = (bytes) => Object(socket).emit('message', bytes, source);
      return socket;
    },
  });
  await userAgent.start();
  return { userAgent, deliver: (bytes: Buffer) => deliver(bytes) };
}

test.each([
  ['whole', {}],
  ['broken', { CSeq: 'x' }],
])('UserAgent drops its answer to a %s request from port 0, which has no listener', async (_, parts) => {
  const { userAgent, deliver } = await startOnline();
  const text = request('OPTIONS').toBuffer().toString();
  const bytes = Object.entries(parts).reduce(
    (changed, [name, value]) => changed.replace(new RegExp(`${name}: .*`), `${name}: ${value}`),
    text,
  );

  deliver(Buffer.from(bytes));

  expect(userAgent.counts.dropped.unsendable).toBe(1);
  await userAgent.stop();
});

test('UserAgent.request resolves with 503 where DNS leads to port 0', async () => {
  const { userAgent } = await startOnline({
    addresses: async () => ['127.0.0.1'],
    services: async () => [{ name: 'evil.example', port: 0, priority: 0, weight: 0 }],
  });

  const response = await userAgent.request({ method: 'OPTIONS', uri: 'sip:x@evil.example' });

  expect(response.status).toBe(503);
  await userAgent.stop();
});
