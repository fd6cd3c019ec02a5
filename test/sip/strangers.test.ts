/** Hosts that the guard calls strangers learn nothing: not even that a SIP server is here. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';

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

const SDP = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
  ...['m=audio 20000 RTP/AVP 0', ''],
].join('\r\n');
