/** Requests that meet a challenge, over a real socket, against a server that checks the answer. */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, test } from 'vitest';
import { DigestClient, type DigestCredentials, parseAuthFields } from '../../src/sip/digest.ts';
import { makeResponse, type SipMessage } from '../../src/sip/message/message.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { eventually } from './user-agents.ts';

const CREDENTIALS = { username: 'trunk', password: 'secret' };
const REALM = 'example.com';
const HASHES = { MD5: 'md5', 'SHA-256': 'sha256' } as const;

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Challenges every request that has no right answer to its nonce; else `accept` says what follows. */
async function challengingServer(
  challenges: readonly string[],
  accept: (request: SipMessage) => SipMessage = (request) =>
    makeResponse(request, 200, undefined, 't'),
) {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  closers.push(() => socket.close());
  const received: SipMessage[] = [];
  socket.on('message', (bytes, { port, address }) => {
    const request = parseMessage(bytes);
    received.push(request);
    if (request.method === 'ACK') return;
    const response = isRight(request)
      ? accept(request)
      : makeResponse(request, 401, undefined, 't');
    if (response.status === 401) {
      for (const challenge of challenges) response.add('www-authenticate', challenge);
    }
    socket.send(response.toBuffer(), port, address);
  });
  return { uri: `sip:127.0.0.1:${socket.address().port}`, received };
}

function isRight(request: SipMessage): boolean {
  const fields = parseAuthFields(request.get('authorization') ?? '');
  const algorithm = fields.get('algorithm') === 'SHA-256' ? 'SHA-256' : 'MD5';
  const hash = (text: string) => createHash(HASHES[algorithm]).update(text).digest('hex');
  const a1 = hash(`${CREDENTIALS.username}:${REALM}:${CREDENTIALS.password}`);
  const a2 = hash(`${request.method}:${request.uri}`);
  const middle = ['nonce', 'nc', 'cnonce', 'qop'].map((name) => fields.get(name)).join(':');
  return fields.get('response') === hash(`${a1}:${middle}:${a2}`);
}

/** Its time stands still, so that it repeats nothing, however long the answer takes on a busy machine. */
async function startUserAgent(): Promise<UserAgent> {
  const listen = [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] as const;
  const userAgent = new UserAgent({ listen, clock: new FakeClock() });
  await userAgent.start();
  closers.push(() => userAgent.stop());
  return userAgent;
}

const challenge = (algorithm: string) =>
  `Digest realm="${REALM}", nonce="n-${algorithm}", qop="auth", algorithm=${algorithm}`;

/** Answers the challenges of one realm. */
function digestOf(credentials: DigestCredentials, ownRealm = REALM): DigestClient {
  return new DigestClient({
    credentialsFor: (realm) => (realm === ownRealm ? credentials : undefined),
  });
}

describe.each(['MD5', 'SHA-256'])('a server that asks for %s', (algorithm) => {
  test('lets a call in at the second try, with the next number', async () => {
    const server = await challengingServer([challenge(algorithm)]);
    const userAgent = await startUserAgent();

    const { response } = await userAgent.invite({
      uri: server.uri,
      body: SDP,
      digest: digestOf(CREDENTIALS),
    }).outcome;

    await eventually(() => server.received.length === 4, 'the last ACK arrives');
    expect(response.status).toBe(200);
    expect(server.received.map(({ method, cseq }) => `${cseq.seq} ${method}`)).toEqual([
      '1 INVITE',
      '1 ACK',
      '2 INVITE',
      '2 ACK',
    ]);
  });
});

test('UserAgent answers the strongest of several challenges', async () => {
  const server = await challengingServer([challenge('MD5'), challenge('SHA-256')]);
  const userAgent = await startUserAgent();

  const response = await userAgent.request({
    method: 'OPTIONS',
    uri: server.uri,
    digest: digestOf(CREDENTIALS),
  });

  expect(response.status).toBe(200);
  expect(server.received.at(-1)?.get('authorization')).toContain('algorithm=SHA-256');
});

test('UserAgent sends the answer to a challenge to an overloaded server once', async () => {
  const overloaded = (request: SipMessage) => makeResponse(request, 503, undefined, 't');
  const server = await challengingServer([challenge('MD5')], overloaded);
  const userAgent = await startUserAgent();

  const response = await userAgent.request({
    method: 'OPTIONS',
    uri: server.uri,
    digest: digestOf(CREDENTIALS),
  });

  expect(response.status).toBe(503);
  expect(server.received.map(({ cseq }) => cseq.seq)).toEqual([1, 2]);
});

test.each([
  ['a wrong password', digestOf({ username: 'trunk', password: 'wrong' }), 2],
  ['credentials of another realm', digestOf(CREDENTIALS, 'elsewhere'), 1],
  ['no credentials', undefined, 1],
])('UserAgent returns the 401 with %s', async (_, digest, tries) => {
  const server = await challengingServer([challenge('MD5')]);
  const userAgent = await startUserAgent();

  const response = await userAgent.request({
    method: 'OPTIONS',
    uri: server.uri,
    ...(digest !== undefined && { digest }),
  });

  expect(response.status).toBe(401);
  expect(server.received).toHaveLength(tries);
});
