/** Hosts that the guard calls strangers learn nothing: not even that a SIP server is here. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { TestAuthority } from '../support/network/certificates.ts';
import { eventually } from './user-agents.ts';

/** Loopback is a whole network on Linux: a second host that a test can send from. */
const STRANGER = '127.0.0.2';

/** Answers to requests on this machine take a millisecond. */
const SILENCE_MS = 300;

async function openWorld() {
  const ignored: string[] = [];
  const strangers = new Set([STRANGER]);
  const agent = new UserAgent({
    listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }],
    strangers: {
      isStranger: (address) => strangers.has(address),
      isSilenced: (address) => strangers.has(address),
      count: (address) => ignored.push(address),
    },
  });
  await agent.start();
  onTestFinished(() => agent.stop());
  const port = agent.addresses[0]?.port ?? 0;
  const send = async (from: string, text: string) => {
    const socket = createSocket('udp4');
    const answers: string[] = [];
    socket.on('message', (bytes) => answers.push(bytes.toString()));
    socket.bind(0, from);
    await once(socket, 'listening');
    const lines = text.replaceAll('HERE', `${from}:${socket.address().port}`);
    socket.send(lines.replaceAll('\n', '\r\n'), port, '127.0.0.1');
    await wait(SILENCE_MS);
    socket.close();
    return answers;
  };
  return { agent, port, ignored, strangers, send };
}

function request(method: string, more = '', to = '<sip:us@127.0.0.1>'): string {
  return `${method} sip:us@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP HERE;branch=z9hG4bK1;rport
From: <sip:them@HERE>;tag=1
To: ${to}
Call-ID: 1@HERE
CSeq: 1 ${method}
Contact: <sip:them@HERE>
Max-Forwards: 70
${more}Content-Length: 0

`;
}

const IN_DIALOG = '<sip:us@127.0.0.1>;tag=made-up';

test.each([
  ['INVITE', request('INVITE')],
  ['OPTIONS', request('OPTIONS')],
  ['REGISTER', request('REGISTER')],
  ['CANCEL of nothing', request('CANCEL')],
  ['BYE in a dialog that it made up', request('BYE', '', IN_DIALOG)],
  ['INVITE in a dialog that it made up', request('INVITE', '', IN_DIALOG)],
  ['a request that is broken', request('OPTIONS', 'Max-Forwards: many\n')],
  ['a method of its own', request('SCAN')],
])('UserAgent answers %s of a carrier, and not of a stranger', async (_case, text) => {
  const { ignored, send } = await openWorld();

  const [carrier, stranger] = await Promise.all([send('127.0.0.1', text), send(STRANGER, text)]);

  expect(carrier.length).toBeGreaterThan(0);
  expect(stranger).toEqual([]);
  expect(ignored).toEqual([STRANGER]);
});

test('UserAgent goes on with the dialogs of a host that has become a stranger', async () => {
  const { agent, port, ignored, strangers } = await openWorld();
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  agent.on('invite', (invite) =>
    invite.accept({ body: SDP, headers: { 'Content-Type': 'application/sdp' } }),
  );
  const call = await phone.call(`sip:us@127.0.0.1:${port}`);

  strangers.add('127.0.0.1');
  await call.hangUp();

  expect(ignored).toEqual([]);
  await expect.poll(() => agent.sizes.dialogs).toBe(0);
});

const authority = new TestAuthority();

const LIMITS = { connectionsMax: 8, strangersMax: 6, strangersPerPeerMax: 3 };

/** A server by TCP or TLS for which all of 127.0.0.0/8 but 127.0.0.1 are strangers. */
async function openStreams(protocol: 'TCP' | 'TLS') {
  const tls = { identity: authority.sign(), ca: authority.cert };
  const isStranger = (address: string) => address !== '127.0.0.1';
  const agent = new UserAgent({
    listen: [{ protocol, address: '127.0.0.1', port: 0 }],
    strangers: { isStranger, isSilenced: isStranger, count: () => undefined },
    tcpLimits: LIMITS,
    tls,
  });
  await agent.start();
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await agent.stop();
  });
  const port = agent.addresses[0]?.port ?? 0;
  /** A connection from that address, once it can be used; what is said on it is kept. */
  const open = async (localAddress: string) => {
    const plain = connect({ host: '127.0.0.1', port, localAddress });
    const socket =
      protocol === 'TCP' ? plain : connectTls({ socket: plain, rejectUnauthorized: false });
    const state = { answers: '', isClosed: false };
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      state.answers += bytes.toString();
    });
    socket.on('close', () => {
      state.isClosed = true;
    });
    sockets.push(socket);
    await new Promise((resolve) => {
      socket.once(protocol === 'TCP' ? 'connect' : 'secureConnect', resolve);
      socket.once('close', resolve);
    });
    return { socket, state };
  };
  return { agent, open };
}

describe.each(['TCP', 'TLS'] as const)('by %s', (protocol) => {
  test('UserAgent answers requests and keep-alive of a carrier, and not of a stranger', async () => {
    const { open } = await openStreams(protocol);
    const [carrier, stranger] = await Promise.all([open('127.0.0.1'), open(STRANGER)]);
    const text = request('OPTIONS').replaceAll('\n', '\r\n').replaceAll('HERE', '127.0.0.1:5070');

    for (const { socket } of [carrier, stranger]) {
      socket.write('\r\n\r\n');
      socket.write(text.replace('UDP', protocol));
    }
    await eventually(() => carrier.state.answers.includes('SIP/2.0 200'), 'answer');
    await wait(SILENCE_MS);

    expect(carrier.state.answers).toMatch(/^\r\n/);
    expect(stranger.state).toEqual({ answers: '', isClosed: false });
  });

  test('UserAgent gives strangers few connections, and carriers theirs', async () => {
    const { agent, open } = await openStreams(protocol);

    for (const stranger of [2, 3, 4, 5]) {
      for (let count = 0; count < 5; count += 1) await open(`127.0.0.${stranger}`);
    }
    const carriers = [await open('127.0.0.1'), await open('127.0.0.1')];

    await expect.poll(() => agent.sizes.connections).toBe(LIMITS.strangersMax + 2);
    expect(agent.counts.dropped['connection-limit']).toBe(20 - LIMITS.strangersMax);
    expect(carriers.map(({ state }) => state.isClosed)).toEqual([false, false]);
  });

  test('UserAgent has room for a stranger again once another one is gone', async () => {
    const { agent, open } = await openStreams(protocol);
    const gone = [await open(STRANGER), await open(STRANGER), await open(STRANGER)];

    await expect.poll(() => agent.sizes.connections).toBe(3);

    for (const { socket } of gone) socket.destroy();
    await expect.poll(() => agent.sizes.connections).toBe(0);

    // The first of them may find the last place still taken.
    const again = async () => {
      await open(STRANGER);
      return agent.sizes.connections;
    };
    await expect.poll(again).toBeGreaterThan(0);
  });

  test('UserAgent connects although carriers have all connections', async () => {
    const { agent, open } = await openStreams(protocol);
    for (const carrier of Array.from({ length: LIMITS.connectionsMax }, () => '127.0.0.1')) {
      await open(carrier);
    }
    const other = await openStreams(protocol);
    const { port = 0 } = other.agent.addresses[0] ?? {};

    const response = await agent.request({
      method: 'OPTIONS',
      uri: `sip:us@127.0.0.1:${port};transport=${protocol.toLowerCase()}`,
    });

    expect(response.status).toBe(200);
    await expect.poll(() => agent.sizes.connections).toBe(LIMITS.connectionsMax + 1);
  });
});

const SDP = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
  ...['m=audio 20000 RTP/AVP 0', ''],
].join('\r\n');
