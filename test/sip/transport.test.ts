/** Sockets of the engine, spoken to by plain sockets: framing, keep-alive, limits, broken messages. */
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { ListenProtocol } from '../../src/sip/transport/flow.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';
import { freePort } from '../support/network/free-ports.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { eventually, SHORT_TIMERS, startPair, stopPair, uriOf } from './user-agents.ts';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(
  options: Partial<UserAgentOptions> = {},
  protocols: readonly ListenProtocol[] = ['UDP', 'TCP'],
  port = 0,
) {
  const userAgent = new UserAgent({
    listen: protocols.map((protocol) => ({ protocol, address: '127.0.0.1', port })),
    timers: SHORT_TIMERS,
    ...options,
  });
  await userAgent.start();
  closers.push(() => userAgent.stop());
  return userAgent;
}

/** A plain connection to the user agent, and what has come back over it. */
async function dial(userAgent: UserAgent) {
  const port = userAgent.addresses.find(({ protocol }) => protocol === 'TCP')?.port ?? 0;
  const socket: Socket = connect(port, '127.0.0.1');
  closers.push(() => socket.destroy());
  const state = { text: '', isClosed: false };
  socket.on('data', (chunk) => {
    state.text += chunk.toString();
  });
  socket.on('close', () => {
    state.isClosed = true;
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, state };
}

function options(branch: string, lines: readonly string[] = ['Content-Length: 0']): string {
  return [
    'OPTIONS sip:agent@127.0.0.1 SIP/2.0',
    `Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK${branch};rport`,
    'From: <sip:a@192.0.2.1>;tag=from',
    'To: <sip:agent@127.0.0.1>',
    `Call-ID: ${branch}`,
    'CSeq: 1 OPTIONS',
    'Max-Forwards: 70',
    ...lines,
    '',
    '',
  ].join('\r\n');
}

const answersIn = (text: string) => text.match(/^SIP\/2\.0 \d+/gm) ?? [];

describe('over TCP', () => {
  test('messages are framed, however they are cut', async () => {
    const userAgent = await start();
    const { socket, state } = await dial(userAgent);
    const text = options('one') + options('two') + options('three');

    for (let at = 0; at < text.length; at += 7) socket.write(text.slice(at, at + 7));

    await eventually(() => answersIn(state.text).length === 3, 'three answers');
    expect(answersIn(state.text)).toEqual(Array(3).fill('SIP/2.0 200'));
  });

  test('a double line break is answered with a single one', async () => {
    const { socket, state } = await dial(await start());

    socket.write('\r\n\r\n');

    await eventually(() => state.text === '\r\n', 'the pong');
  });

  test('a message without Content-Length is refused and the connection closed', async () => {
    const { socket, state } = await dial(await start());

    socket.write(options('one', []));

    await eventually(() => state.isClosed, 'the connection is closed');
    expect(answersIn(state.text)).toEqual(['SIP/2.0 400']);
  });

  test('a message that does not become whole in time ends its connection', async () => {
    const userAgent = await start({ tcpLimits: { messageMs: 60 } });
    const { socket, state } = await dial(userAgent);
    const drip = setInterval(() => socket.write('X'), 10);
    closers.push(() => clearInterval(drip));

    await eventually(() => state.isClosed, 'the connection is closed');

    expect(userAgent.sizes.connections).toBe(0);
  });

  test('an idle connection is closed, one with a call is kept', async () => {
    const clock = new FakeClock();
    const pair = await startPair('TCP', { bob: { clock, tcpLimits: { idleMs: 500 } } });
    closers.push(() => stopPair(pair));
    pair.bob.on('invite', (invite) => invite.accept({ body: SDP }));
    const { state } = await dial(pair.bob);
    const { dialog } = await pair.alice.invite({ uri: pair.bobUri, body: SDP }).outcome;

    clock.advance(500);

    await eventually(() => state.isClosed, 'the idle connection is closed');

    expect(pair.bob.sizes.connections).toBe(1);
    expect((await dialog?.bye())?.status).toBe(200);
  });

  test('no peer has more connections than the limit', async () => {
    const userAgent = await start({ tcpLimits: { connectionsPerPeerMax: 2 } });
    await dial(userAgent);
    await dial(userAgent);

    const { state } = await dial(userAgent);

    await eventually(() => state.isClosed, 'the third connection is closed');
    expect(userAgent.sizes.connections).toBe(2);
    expect(userAgent.counts.dropped['connection-limit']).toBe(1);
  });

  test('a refused connection fails its request at once with 503', async () => {
    const closed = await start();
    const uri = uriOf(closed, 'TCP');
    await closed.stop();
    // Waiting for this limit would exceed the test's own time-out.
    const userAgent = await start({ tcpLimits: { connectMs: 600_000 } });

    const response = await userAgent.request({ method: 'OPTIONS', uri });

    expect(response.status).toBe(503);
  });

  test('a lost connection fails its request at once and is told to its dialogs', async () => {
    const pair = await startPair('TCP');
    closers.push(() => stopPair(pair));
    pair.bob.on('invite', (invite) => invite.accept({ body: SDP }));
    const { dialog } = await pair.alice.invite({ uri: pair.bobUri, body: SDP }).outcome;
    let disconnected = 0;
    dialog?.on('disconnected', () => disconnected++);
    const info = dialog?.request('INFO');

    await pair.bob.stop();

    expect((await info)?.status).toBeGreaterThanOrEqual(481);
    expect(disconnected).toBe(1);
  });
});

describe('over UDP', () => {
  test('requests of more than 1,300 octets go by TCP', async () => {
    const alice = await start();
    const bob = await start({}, ['UDP', 'TCP'], await freePort());
    const body = 'x'.repeat(1200);
    bob.on('request', ({ request, respond, flow }) =>
      respond(200, { headers: { 'X-Protocol': flow.protocol }, body: request.body }),
    );
    const info = { method: 'INFO', uri: uriOf(bob, 'UDP'), contentType: 'text/plain' };

    const short = await alice.request({ ...info, body: 'x' });
    const long = await alice.request({ ...info, body });

    expect([short.get('x-protocol'), long.get('x-protocol')]).toEqual(['UDP', 'TCP']);
    expect(long.body.toString()).toBe(body);
  });

  test('long requests go by UDP after all where the peer has no TCP', async () => {
    const alice = await start();
    const bob = await start({}, ['UDP']);
    bob.on('request', ({ respond, flow }) =>
      respond(200, { headers: { 'X-Protocol': flow.protocol } }),
    );

    const long = await alice.request({
      method: 'INFO',
      uri: uriOf(bob, 'UDP'),
      body: 'x'.repeat(1300),
      contentType: 'text/plain',
    });

    expect(long.get('x-protocol')).toBe('UDP');
  });

  test('broken requests are answered or dropped, and counted', async () => {
    const userAgent = await start();
    const port = userAgent.addresses.find(({ protocol }) => protocol === 'UDP')?.port ?? 0;
    const socket = createSocket('udp4');
    closers.push(() => socket.close());
    const answers: string[] = [];
    socket.on('message', (bytes) => answers.push(...answersIn(bytes.toString())));
    const udp = (branch: string, lines?: string[]) =>
      options(branch, lines).replace('SIP/2.0/TCP', 'SIP/2.0/UDP');

    for (const text of [
      'x'.repeat(400),
      udp('one').replace('CSeq: 1', 'CSeq: one'),
      udp('two').replaceAll('OPTIONS', 'ACK').replace('CSeq: 1', 'CSeq: one'),
      udp('three', ['Require: nothing', 'Content-Length: 0']),
      udp('four'),
    ]) {
      socket.send(text, port, '127.0.0.1');
    }

    await eventually(() => answers.length === 3, 'three answers');
    expect(answers.sort()).toEqual(['SIP/2.0 200', 'SIP/2.0 400', 'SIP/2.0 420']);
    expect(userAgent.counts.dropped.unreadable).toBe(2);
    expect([...userAgent.counts.rejected]).toEqual(
      expect.arrayContaining([
        [400, 1],
        [420, 1],
      ]),
    );
  });

  test('requests that the screen turns away get no answer', async () => {
    const bob = await start({ screen: (request) => request.get('user-agent') !== 'scanner' });
    const alice = await start();
    const ask = (agent: string) =>
      alice.request({
        method: 'OPTIONS',
        uri: uriOf(bob, 'UDP'),
        headers: { 'User-Agent': agent },
      });

    const [scanner, friend] = await Promise.all([ask('scanner'), ask('friend')]);

    expect([scanner.status, friend.status]).toEqual([408, 200]);
    expect(bob.counts.dropped.screened).toBeGreaterThan(1);
  });
});

test('two names of one TCP peer share a connection', async () => {
  const resolver = { addresses: async () => ['127.0.0.1'], services: async () => [] };
  const [alice, bob] = [await start({ resolver }), await start()];
  const port = bob.addresses.find(({ protocol }) => protocol === 'TCP')?.port;
  const ask = (host: string) =>
    alice.request({ method: 'OPTIONS', uri: `sip:bob@${host}:${port};transport=tcp` });

  await Promise.all([ask('one.test'), ask('two.test'), ask('127.0.0.1')]);

  expect(bob.sizes.connections).toBe(1);
});
