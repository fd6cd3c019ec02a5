/** SIP over TLS between two user agents of ours, and with plain sockets: certificates good and bad, limits, and reloads. */
import { connect as connectPlain, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import type { Resolver } from '../../src/sip/transport/next-hop.ts';
import type { TlsSettings } from '../../src/sip/transport/tls-layer.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';
import { TestAuthority } from '../support/network/certificates.ts';
import { freePort } from '../support/network/free-ports.ts';
import { SDP } from './messages.ts';
import { eventually, next, SHORT_TIMERS } from './user-agents.ts';

const authority = new TestAuthority();
const stranger = new TestAuthority('Another Authority');
const HOUR_MS = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(
  tls: TlsSettings,
  options: Partial<UserAgentOptions> = {},
): Promise<UserAgent> {
  const userAgent = new UserAgent({
    listen: [{ protocol: 'TLS', address: '127.0.0.1', port: 0 }],
    timers: SHORT_TIMERS,
    tls,
    ...options,
  });
  await userAgent.start();
  closers.push(() => userAgent.stop());
  return userAgent;
}

const server = (tls: TlsSettings = {}, options: Partial<UserAgentOptions> = {}) =>
  start({ identity: authority.sign(), ...tls }, options);
const client = (options: Partial<UserAgentOptions> = {}) => start({ ca: authority.cert }, options);
const portOf = (userAgent: UserAgent) => userAgent.addresses[0]?.port ?? 0;

const ask = (
  from: UserAgent,
  to: UserAgent,
  uri = `sip:bob@127.0.0.1:${portOf(to)};transport=tls`,
) => from.request({ method: 'OPTIONS', uri });

/** A name service that knows one host. */
function resolverOf(host: string, port?: number): Resolver {
  return {
    addresses: async (name) => (name === host || name === 'proxy.test' ? ['127.0.0.1'] : []),
    services: async (name) =>
      name === `_sips._tcp.${host}` && port !== undefined
        ? [{ name: 'proxy.test', port, priority: 1, weight: 1 }]
        : [],
  };
}

async function call(from: UserAgent, to: UserAgent, uri: string) {
  const arrived = next<[ServerInvite]>(to, 'invite');
  const calling = from.invite({ uri, body: SDP });
  const [invite] = await arrived;
  return { calling, invite };
}

test.each([
  'sip',
  'sips',
])('a %s call goes by TLS, and its BYE comes back over the same connection', async (scheme) => {
  const [alice, bob] = [await client(), await server()];
  const uri = `${scheme}:bob@127.0.0.1:${portOf(bob)}${scheme === 'sip' ? ';transport=tls' : ''}`;

  const { calling, invite } = await call(alice, bob, uri);
  const { dialog, acknowledged } = invite.accept({ body: SDP });
  await Promise.all([calling.outcome, acknowledged]);
  const bye = await dialog.bye();

  expect(invite.request.get('via')).toMatch(/^SIP\/2\.0\/TLS 127\.0\.0\.1:\d+;/);
  expect(invite.request.get('contact')).toMatch(
    scheme === 'sips' ? /^<sips:127\.0\.0\.1:\d+>$/ : /^<sip:127\.0\.0\.1:\d+;transport=tls>$/,
  );
  expect(bye?.status).toBe(200);
  expect([alice.sizes.connections, bob.sizes.connections]).toEqual([1, 1]);
});

test('without a certificate TLS connects and does not listen', async () => {
  const alice = await client();

  expect(alice.addresses).toEqual([]);
  expect((await ask(alice, await server())).status).toBe(200);
});

test('a connection of a side that does not listen stays open in silence, and any other is closed', async () => {
  const limits = { idleMs: 100 };
  const bob = await server();
  const silent = await client({ tcpLimits: limits });
  const listening = await server({ ca: authority.cert }, { tcpLimits: limits });
  await Promise.all([ask(silent, bob), ask(listening, bob)]);

  await eventually(() => listening.sizes.connections === 0, 'close');

  expect(silent.sizes.connections).toBe(1);
});

test('requests go where _sips._tcp leads, to a peer that proves the name of the URI', async () => {
  const bob = await server({ identity: authority.sign({ names: ['carrier.test'] }) });
  const alice = await client({ resolver: resolverOf('carrier.test', portOf(bob)) });

  const answers = [
    await ask(alice, bob, 'sip:bob@carrier.test;transport=tls'),
    await ask(alice, bob, 'sips:bob@carrier.test'),
    // As a Contact has it: the peer at this address has proved its name.
    await ask(alice, bob),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(bob.sizes.connections).toBe(1);
});

test.each([
  ['of another name', authority.sign({ names: ['other.test'] }), /altnames/],
  ['by an unknown authority', stranger.sign(), /no known authority; set SIP_TLS_CA/],
  ['that has expired', authority.sign({ notAfter: ago(HOUR_MS) }), /has expired/],
  [
    'that is not valid yet',
    authority.sign({ notBefore: new Date(Date.now() + HOUR_MS) }),
    /not yet valid/,
  ],
])('a request to a peer with a certificate %s fails at once, and the log says why', async (_, identity, why) => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => lines.push(JSON.stringify(fields)) };
  const bob = await server({ identity });
  // Standard timers: a request that waited for them would take 32 seconds.
  const alice = await client({ logger, timers: { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 } });

  const startedAtMs = performance.now();
  const response = await ask(alice, bob);

  expect(response.status).toBe(503);
  expect(performance.now() - startedAtMs).toBeLessThan(2000);
  expect(lines.join()).toMatch(why);
});

test('a call of an earlier process is cancelled at the peer that proves the name of its proxy', async () => {
  const bob = await server({ identity: authority.sign({ names: ['carrier.test'] }) });
  const resolver = resolverOf('carrier.test');
  const [before, after] = [await client({ resolver }), await client()];
  const uri = `sip:bob@carrier.test:${portOf(bob)};transport=tls`;
  const calling = before.invite({ uri, body: SDP });
  const [[sent], [invite]] = await Promise.all([
    next<[SipMessage]>(calling, 'sent'),
    next<[ServerInvite]>(bob, 'invite'),
  ]);
  invite.progress(180);
  await next(calling, 'provisional');
  await before.stop();
  const cancelled = next(invite, 'cancelled');

  await after.endOrphan('out', sent, { protocol: 'TLS', address: '127.0.0.1', port: portOf(bob) });

  await cancelled;
});

test('a name that two hosts share is proved by each: an open connection proves no other name', async () => {
  const bob = await server({ identity: authority.sign({ names: ['carrier.test'] }) });
  const alice = await client({ resolver: resolverOf('carrier.test') });
  const at = (host: string) => `sip:bob@${host}:${portOf(bob)};transport=tls`;
  const proved = await ask(alice, bob, at('carrier.test'));

  const other = await ask(alice, bob, at('proxy.test'));

  expect([proved.status, other.status]).toEqual([200, 503]);
});

test('nothing is asked over a connection that a peer opened, for it has proved no name', async () => {
  const alice = await server({ ca: authority.cert });
  const localPort = await freePort();
  const socket = connectPlain({ port: portOf(alice), host: '127.0.0.1', localPort });
  const peer = connectTls({ socket, rejectUnauthorized: false });
  const received: string[] = [];
  peer.on('error', () => undefined).on('data', (bytes) => received.push(bytes.toString()));
  closers.push(() => peer.destroy());
  await eventually(() => alice.sizes.connections === 1, 'connect');

  const response = await alice.request({
    method: 'OPTIONS',
    uri: `sip:bob@127.0.0.1:${localPort};transport=tls`,
  });

  expect(response.status).toBe(503);
  expect(received).toEqual([]);
});

test('a peer that takes the connection and says nothing is given up after the connect time', async () => {
  const mute = createServer().listen(0, '127.0.0.1');
  await next(mute, 'listening');
  closers.push(() => mute.close());
  const { port } = mute.address() as { port: number };
  const alice = await client({ tcpLimits: { connectMs: 200 } });

  const response = await alice.request({
    method: 'OPTIONS',
    uri: `sip:bob@127.0.0.1:${port};transport=tls`,
  });

  expect(response.status).toBe(503);
});

test('requests that wait on a connection fail as soon as it closes', async () => {
  const bob = await server();
  const alice = await client({ timers: { t1Ms: 500, t2Ms: 4000, t4Ms: 5000 } });
  const { calling } = await call(alice, bob, `sip:bob@127.0.0.1:${portOf(bob)};transport=tls`);

  const startedAtMs = performance.now();
  await bob.stop();
  const outcome = await calling.outcome;

  expect(outcome).toMatchObject({ dialog: null, response: { status: 503 } });
  expect(performance.now() - startedAtMs).toBeLessThan(2000);
});

test('TLS before 1.2 is refused', async () => {
  const bob = await server();
  const socket = connectTls({
    ...{ port: portOf(bob), host: '127.0.0.1', rejectUnauthorized: false },
    ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' },
  });

  const [error] = await next<[Error]>(socket, 'error');

  expect(error.message).toMatch(/protocol|version|alert/i);
  await eventually(() => bob.counts.dropped['bad-handshake'] === 1, 'count');
});

test('noise on the port ends its own connection and nothing else', async () => {
  const [alice, bob] = [await client(), await server()];
  const noise = connectPlain(portOf(bob), '127.0.0.1');
  noise.on('error', () => undefined);
  noise.write('OPTIONS sip:bob@127.0.0.1 SIP/2.0\r\n\r\n'.repeat(10));

  await next(noise, 'close');

  expect((await ask(alice, bob)).status).toBe(200);
  expect(bob.counts.dropped['bad-handshake']).toBe(1);
});

test('handshakes that do not end count towards the connections of an address, and are given up', async () => {
  const limits = { connectionsPerPeerMax: 3, connectMs: 400 };
  const [alice, bob] = [await client(), await server({}, { tcpLimits: limits })];
  const idle = [1, 2, 3].map(() => connectPlain(portOf(bob), '127.0.0.1'));
  for (const socket of idle) socket.on('error', () => undefined);
  // Listened for from the start: on a busy machine they are given up before the answer is there.
  const closed = Promise.all(idle.map((socket) => next(socket, 'close')));
  await Promise.all(idle.map((socket) => next(socket, 'connect')));

  const refused = await ask(alice, bob);
  await closed;
  const taken = await ask(alice, bob);

  expect([refused.status, taken.status]).toEqual([503, 200]);
  expect(bob.counts.dropped['connection-limit']).toBeGreaterThan(0);
});

/** A logger, and what it is told. */
function logbook() {
  const lines: string[] = [];
  const warn = (fields: object) => lines.push(JSON.stringify(fields));
  return { logger: { ...silentLogger, warn }, lines };
}

/** OpenSSL's own texts: `error:0A000410:SSL routines::…`, with numbers and file names of its source. */
const RAW_TEXT = /routines|error:[0-9A-F]{8}|\.\.\//;

test.each([
  ['plain text', 'OPTIONS sip:bob@127.0.0.1 SIP/2.0\r\n\r\n', 'does not speak TLS'],
  ['a request of HTTP', 'GET / HTTP/1.1\r\n\r\n', 'does not speak TLS'],
  ['octets of no protocol', '\x16\x03\x01\x00\x05\xff\x00\x00\x01\x00', 'TLS failed: '],
])('the log says in plain words that a handshake failed by %s', async (_, bytes, why) => {
  const { logger, lines } = logbook();
  const bob = await server({}, { logger });
  const socket = connectPlain(portOf(bob), '127.0.0.1');
  socket.on('error', () => undefined);

  socket.write(bytes, 'latin1');
  await eventually(() => lines.length > 0, 'log');
  socket.destroy();

  expect(lines[0]).toContain(why);
  expect(lines[0]).toMatch(/\(ERR_SSL_\w+\)/);
  expect(lines[0]).not.toMatch(RAW_TEXT);
});

test('the log says why a peer that wants a certificate of ours breaks the connection off', async () => {
  const { logger, lines } = logbook();
  const bob = await server({ ca: authority.cert, verifiesClients: true });
  const alice = await client({ logger });

  const { status } = await ask(alice, bob);

  expect(status).toBe(503);
  expect(lines.join()).toContain(
    `Connection to \\"127.0.0.1:${portOf(bob)}\\" broke: the peer requires a certificate of ours; set SIP_TLS_CERT and SIP_TLS_KEY (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)`,
  );
  expect(lines.join()).not.toMatch(RAW_TEXT);
});

test('the log says so when a peer closes a connection of ours without an answer', async () => {
  const { logger, lines } = logbook();
  const peer = createTlsServer(authority.sign(), (socket) => socket.end()).listen(0, '127.0.0.1');
  await next(peer, 'listening');
  closers.push(() => peer.close());
  const { port } = peer.address() as { port: number };
  const alice = await client({ logger });

  const { status } = await alice.request({
    method: 'OPTIONS',
    uri: `sip:bob@127.0.0.1:${port};transport=tls`,
  });

  expect(status).toBe(503);
  expect(lines.join()).toContain('closed it without an answer; it may not accept our certificate');
});

test('mutual TLS takes peers with a certificate of its authority alone', async () => {
  const bob = await server({ ca: authority.cert, verifiesClients: true });
  const known = await server({ ca: authority.cert });
  const unknown = await start({ identity: stranger.sign(), ca: authority.cert });

  const answers = [await ask(known, bob), await ask(await client(), bob), await ask(unknown, bob)];

  expect(answers.map(({ status }) => status)).toEqual([200, 503, 503]);
});

test('useTls changes the certificate for new connections, and no call is cut', async () => {
  const bob = await server();
  const [alice, carol] = [await client(), await start({ ca: stranger.cert })];
  const { calling, invite } = await call(
    alice,
    bob,
    `sip:bob@127.0.0.1:${portOf(bob)};transport=tls`,
  );
  const { dialog, acknowledged } = invite.accept({ body: SDP });
  await Promise.all([calling.outcome, acknowledged]);
  const before = await ask(carol, bob);

  bob.useTls({ identity: stranger.sign() });
  const after = await ask(carol, bob);
  const bye = await dialog.bye();

  expect([before.status, after.status, bye?.status]).toEqual([503, 200, 200]);
});
