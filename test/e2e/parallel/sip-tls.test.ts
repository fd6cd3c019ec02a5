/** A whole server with SIP over TLS and SRTP: wrong files, calls in and out, refusals, and a certificate that changes during a call. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { Phone, type PhoneOptions, type RingingCall } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { type Identity, TestAuthority } from '../../support/network/certificates.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const OURS = '+12025550123';
const THEIRS = '+12025550187';
const authority = new TestAuthority();
const stranger = new TestAuthority('Another Authority');
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface World {
  readonly server: TestServer;
  readonly agentId: string;
  /** What to call. */
  readonly uri: string;
  writeCertificate(identity: Identity): void;
}

function tlsFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-tls-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
}

/** A server whose only trunk leads to `proxy`. */
async function start(trunk: object, identity: Identity = authority.sign()): Promise<World> {
  const file = tlsFolder();
  const tlsPort = String(await freePort());
  const trunks = [{ name: 'carrier', numbers: [OURS], allowedSources: ['127.0.0.1'], ...trunk }];
  const environment = {
    SIP_TRUNKS: file('trunks.json', JSON.stringify(trunks)),
    SIP_TLS_PORT: tlsPort,
    SIP_TLS_CERT: file('cert.pem', identity.cert),
    SIP_TLS_KEY: file('key.pem', identity.key),
    SIP_TLS_CA: file('ca.pem', authority.cert),
  };
  const server = await startServer({ environment });
  undo.push(() => server.stop());
  await server.ready();
  return {
    server,
    agentId: await server.createAgent({ phoneNumber: OURS }),
    uri: `sip:${OURS}@127.0.0.1:${tlsPort};transport=tls`,
    writeCertificate: ({ cert, key }) => {
      file('cert.pem', cert);
      file('key.pem', key);
    },
  };
}

async function startPhone(options: PhoneOptions): Promise<Phone> {
  const phone = new Phone(options);
  await phone.start();
  undo.push(() => phone.stop());
  return phone;
}

const NOWHERE = { proxy: '127.0.0.1:9;transport=tls', optionsIntervalSeconds: 0 };
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function eventually<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + 30_000;
  let value = await read();
  while (!isWanted(value) && performance.now() < deadlineMs) {
    await later(200);
    value = await read();
  }
  return value;
}

/** A call that a busy server may refuse with 503 and Retry-After, so that it takes a later one. Other refusals count. */
async function callWhenTaken(phone: Phone, uri: string): Promise<PhoneCall> {
  const deadlineMs = performance.now() + 30_000;
  for (;;) {
    const { answered, invite } = await phone.dial(uri);
    const { response } = await invite.outcome;
    const isBusy = response.status === 503 && response.get('retry-after') !== undefined;
    if (!isBusy || performance.now() > deadlineMs) return await answered;
    await later(1000);
  }
}

test.each([
  [
    { SIP_TLS_CERT: '/nowhere.pem', SIP_TLS_KEY: '/nowhere.key' },
    'Cannot use SIP_TLS_CERT "/nowhere.pem"',
  ],
  [
    { SIP_TLS_CERT: '/nowhere.pem' },
    'SIP_TLS_CERT and SIP_TLS_KEY: expected both of them, or neither',
  ],
  [
    { SIP_TLS_VERIFY_CLIENTS: 'true' },
    'SIP_TLS_VERIFY_CLIENTS: needs SIP_TLS_CERT and SIP_TLS_CA as well',
  ],
])('the settings %j end the start with 78 and a sentence', async (environment, sentence) => {
  const server = await startServer({ environment });
  undo.push(() => server.stop());

  expect(await server.exited).toBe(78);
  expect(server.output).toContain(sentence);
});

test.each([
  [
    'that has expired',
    { notAfter: new Date('2020-01-02') },
    'expired on 2020-01-02T00:00:00.000Z; renew the certificate',
  ],
  ['with a short key', { rsaBits: 1024 }, 'is refused by TLS: its key is too short'],
])('a certificate %s ends the start with 78', async (_, options, sentence) => {
  const file = tlsFolder();
  const { cert, key } = authority.sign(options);
  const environment = { SIP_TLS_CERT: file('cert.pem', cert), SIP_TLS_KEY: file('key.pem', key) };
  const server = await startServer({ environment });
  undo.push(() => server.stop());

  expect(await server.exited).toBe(78);
  expect(server.output).toContain(sentence);
});

test('a certificate that changes during a call cuts no call, and new connections get the new one', async () => {
  const notAfter = new Date(Date.now() + 5 * 86_400_000);
  const { server, uri, writeCertificate } = await start(
    { ...NOWHERE, srtp: 'required' },
    authority.sign({ notAfter }),
  );
  const expiry = async () => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    return Number(/^offhook_sip_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
  };
  const readiness = async () => (await fetch(`${server.baseUrl}/readyz`)).text();
  const [before, degraded] = [await expiry(), await readiness()];
  const phone = await startPhone({ tls: { ca: authority.cert }, srtp: 'required' });
  const other = await startPhone({ tls: { ca: stranger.cert }, srtp: 'required' });
  const refused = await other.call(uri).catch((error: Error) => error.message);

  const calls = [
    await callWhenTaken(phone, uri),
    await callWhenTaken(phone, uri),
    await callWhenTaken(phone, uri),
  ];
  writeCertificate(stranger.sign());
  const after = await eventually(expiry, (value) => value !== before);
  const fresh = await callWhenTaken(other, uri);
  const heardBefore = calls.map(({ line }) => line.heard.length);
  await later(1000);
  const heardSince = calls.map(({ line }, at) => line.heard.length - (heardBefore[at] ?? 0));
  const ended = await Promise.all([...calls, fresh].map((call) => call.hangUp()));

  expect(before).toBe(Math.floor(notAfter.getTime() / 1000));
  expect(degraded).toContain('degraded: expires in 4 days');
  expect(refused).toContain('503');
  expect(after).toBeGreaterThan(before);
  expect(await readiness()).not.toContain('degraded: expires');
  expect(heardSince.every((packets) => packets > 30)).toBe(true);
  expect(ended).toHaveLength(4);
  const records = await server.endedCalls();
  expect(records.map(({ endReason }) => endReason)).toEqual(Array(4).fill('user_hangup'));
});

test.each([
  ['required', 'required', true],
  ['preferred', 'preferred', true],
  ['preferred', 'off', false],
] as const)('a trunk with SRTP %s calls out by TLS to a phone with SRTP %s', async (srtp, theirs, isEncrypted) => {
  const phone = await startPhone({
    number: THEIRS,
    tls: { identity: authority.sign(), ca: authority.cert },
    srtp: theirs,
  });
  const { promise: rung, resolve } = Promise.withResolvers<RingingCall>();
  phone.onRinging(resolve);
  const proxy = `${phone.hostPort('TLS')};transport=tls`;
  const { server, agentId } = await start({ proxy, srtp, optionsIntervalSeconds: 0 });

  await server.api('POST', '/api/calls/outbound', { agentId, to: THEIRS });
  const ringing = await rung;
  const call = await ringing.answer();
  await eventually(
    async () => call.line.heard.filter(({ isVoiced }) => isVoiced).length,
    (voiced) => voiced > 25,
  );
  await call.hangUp();
  const offered = ringing.request.body.toString();
  const [record] = await server.endedCalls();

  expect(ringing.request.get('via')).toContain('SIP/2.0/TLS');
  expect(ringing.request.get('contact')).toContain(';transport=tls');
  expect(offered).toContain(srtp === 'required' ? 'RTP/SAVP 0' : 'RTP/AVP 0');
  expect(offered).toContain('a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:');
  expect(call.line.heard.filter(({ isVoiced }) => isVoiced).length).toBeGreaterThan(25);
  expect(call.line.isEncrypted).toBe(isEncrypted);
  expect(record).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

test('without a certificate a trunk registers over TLS, and its calls come in over that connection', async () => {
  const file = tlsFolder();
  const carrier = await startCarrier(authority.sign());
  const trunk = {
    ...{ name: 'carrier', numbers: [OURS], allowedSources: ['127.0.0.1'], srtp: 'required' },
    ...{ register: true, username: 'joe', password: 'secret' },
    proxy: `127.0.0.1:${carrier.port};transport=tls`,
  };
  const environment = {
    SIP_TRUNKS: file('trunks.json', JSON.stringify([trunk])),
    SIP_TLS_CA: file('ca.pem', authority.cert),
  };
  const server = await startServer({ environment });
  undo.push(() => server.stop());
  await server.ready();
  await server.createAgent({ phoneNumber: OURS });

  const answer = await carrier.call(OURS);

  expect(carrier.registered).toMatch(/^Contact: <sip:joe@127\.0\.0\.1:5061;transport=tls>/m);
  expect(answer).toMatch(/^SIP\/2\.0 200 /);
  expect(answer).toMatch(/^m=audio \d+ RTP\/SAVP 0/m);
  expect(answer).toMatch(/^a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:/m);
});

test('an offer that does not fit the trunk is 488 and says why, in the trace and in the log', async () => {
  const { server, uri } = await start({ ...NOWHERE, srtp: 'required' });
  const phone = await startPhone({ tls: { ca: authority.cert } });

  const dialled = await phone.dial(uri);
  const { response } = await dialled.invite.outcome;
  await dialled.answered.catch(() => undefined);

  expect(response.status).toBe(488);
  expect(response.get('warning')).toMatch(
    /^399 offhook "Cannot use SDP: usable is audio by SRTP .*; it has RTP\/AVP"$/,
  );
  expect(server.output).toContain('refused a call for its session description');
});

test('a call to a proxy whose certificate is not verified fails at once, and the log says why', async () => {
  const phone = await startPhone({ tls: { identity: stranger.sign(), ca: authority.cert } });
  const proxy = `${phone.hostPort('TLS')};transport=tls`;
  const { server, agentId } = await start({ proxy, optionsIntervalSeconds: 0 });

  const startedAtMs = performance.now();
  await server.api('POST', '/api/calls/outbound', { agentId, to: THEIRS });
  const [record] = await server.endedCalls();

  expect(record).toMatchObject({ status: 'failed', sipStatus: 503 });
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  expect(server.output).toContain('its certificate is by no known authority; set SIP_TLS_CA');
});

test('after kill -9 during a call, the next start ends it at an IP address through the proxy, which proves its name', async () => {
  const identity = authority.sign({ names: ['localhost'] });
  const phone = await startPhone({ number: THEIRS, tls: { identity, ca: authority.cert } });
  const rung = new Promise<RingingCall>((resolve) => phone.onRinging(resolve));
  const proxy = `localhost:${phone.hostPort('TLS').split(':')[1]};transport=tls`;
  const file = tlsFolder();
  const trunk = { name: 'carrier', numbers: [OURS], allowedSources: ['127.0.0.1'], proxy };
  const environment = {
    SIP_TRUNKS: file('trunks.json', JSON.stringify([{ ...trunk, optionsIntervalSeconds: 0 }])),
    SIP_TLS_CA: file('ca.pem', authority.cert),
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-tls-data-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await startServer({ environment, dataDir });
  undo.push(() => server.stop());
  await server.ready();
  const agentId = await server.createAgent({ phoneNumber: OURS });
  await server.api('POST', '/api/calls/outbound', { agentId, to: THEIRS });
  const call = await (await rung).answer();
  await eventually(
    async () => call.line.heard.filter(({ isVoiced }) => isVoiced).length,
    (voiced) => voiced > 0,
  );

  server.kill('SIGKILL');
  await server.exited;
  const next = await startServer({ environment, dataDir });
  undo.push(() => next.stop());
  await next.ready();

  expect((await call.ended).cause).toBe('remote-bye');
});

/** A registrar over TLS that calls over the connection of the REGISTER. */
async function startCarrier({ cert, key }: Identity) {
  const registered = Promise.withResolvers<{ socket: TLSSocket; text: string }>();
  const answered = Promise.withResolvers<string>();
  const server = createServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString();
      if (text.startsWith('REGISTER ')) {
        const kept = text.match(/^(?:Via|From|To|Call-ID|CSeq|Contact|Expires): .*\r\n/gim) ?? [];
        socket.write(`SIP/2.0 200 OK\r\n${kept.join('')}Content-Length: 0\r\n\r\n`);
        registered.resolve({ socket, text });
      } else if (/^SIP\/2\.0 [2-6]/.test(text)) answered.resolve(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => server.close());
  const { port } = server.address() as { port: number };
  const carrier = { port, registered: '', call };

  async function call(number: string): Promise<string> {
    const { socket, text: register } = await registered.promise;
    carrier.registered = register;
    undo.push(() => socket.destroy());
    const body = [
      ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
      'm=audio 40000 RTP/SAVP 0',
      `a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30, 3).toString('base64')}`,
      '',
    ].join('\r\n');
    const head = [
      `INVITE sip:${number}@127.0.0.1:5061;transport=tls SIP/2.0`,
      `Via: SIP/2.0/TLS 127.0.0.1:${port};branch=z9hG4bKcarrier;rport`,
      `From: <sip:${THEIRS}@127.0.0.1>;tag=carrier`,
      `To: <sip:${number}@127.0.0.1>`,
      'Call-ID: from-the-carrier',
      'CSeq: 1 INVITE',
      'Max-Forwards: 70',
      `Contact: <sip:127.0.0.1:${port};transport=tls>`,
      'Content-Type: application/sdp',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return await answered.promise;
  }
  return carrier;
}
