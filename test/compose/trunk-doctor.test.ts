/** The trunk doctor against far ends that are wrong in one way each. */
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { openAddresses } from '../../src/compose/addresses.ts';
import { diagnose } from '../../src/compose/sip-doctor-client.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import { freePort } from '../support/network/free-ports.ts';
import { CHALLENGE, type Script, startCarrier } from '../support/sip/scripted-carrier.ts';
import { trunkTo } from '../telephony/plane.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const ACCOUNT = { username: 'joe', password: 'the-password', register: true };

async function carrierWith(script: Script) {
  const carrier = await startCarrier(script);
  stops.push(() => carrier.stop());
  return carrier;
}

async function check(proxy: string, fields: object = {}, clock = systemClock) {
  const config = readConfig({});
  const trunk = trunkTo(proxy, fields);
  const addresses = openAddresses({
    ...{ config, trunks: [trunk], onChange: () => undefined, clock, log },
  });
  const { ok, steps } = await diagnose(trunk, { config, addresses, clock, log });
  const wrong = steps.filter((step) => !step.ok);
  return { ok, steps: steps.map(({ step }) => step), wrong, all: steps };
}

/** A carrier that accepts every answer to its digest challenge. */
const SOUND: Script = ({ method, header }) => {
  if (method === 'REGISTER' && header('Authorization') === '') return CHALLENGE;
  const contact = { Contact: '<sip:joe@127.0.0.1:5060>;expires=200' };
  const date = { Date: new Date().toUTCString() };
  return { status: 200, headers: method === 'REGISTER' ? { ...contact, ...date } : date };
};

test('diagnose finds nothing wrong with a carrier that works, and registers nothing', async () => {
  const carrier = await carrierWith(SOUND);

  const found = await check(carrier.hostPort, ACCOUNT);

  expect(found.wrong).toEqual([]);
  expect(found.ok).toBe(true);
  expect(found.steps).toEqual([
    ...['dns', 'connection', 'options', 'registration', 'address', 'codecs', 'clock'],
  ]);
  expect(found.all[3]?.message).toContain('1 address is registered');
  const registers = carrier.of('REGISTER');
  expect(registers).toHaveLength(2);
  expect(registers.map((request) => request.header('Contact'))).toEqual(['', '']);
  expect(JSON.stringify(found)).not.toContain('the-password');
});

test('diagnose says that the password is wrong', async () => {
  const carrier = await carrierWith(({ method }) =>
    method === 'REGISTER' ? CHALLENGE : { status: 200 },
  );

  const found = await check(carrier.hostPort, ACCOUNT);

  expect(found.wrong).toEqual([
    {
      step: 'registration',
      ok: false,
      message: expect.stringMatching(/refuses the password of user "joe".*\(401\): check username/),
    },
  ]);
});

test.each([
  [{ realm: 'other' }, 401, /realm "carrier", and the trunk has one for "other"/],
  [{}, 403, /forbids user "joe".*\(403\)/],
  [{}, 404, /does not know user "joe".*\(404\): check username and domain/],
  [{}, 500, /answers REGISTER with 500/],
])('diagnose with %j says what REGISTER answered with %d means', async (fields, status, message) => {
  const carrier = await carrierWith(({ method }) =>
    method === 'REGISTER' && status !== 401 ? { status } : CHALLENGE,
  );

  const found = await check(carrier.hostPort, { ...ACCOUNT, ...fields });

  expect(found.wrong[0]?.message).toMatch(message);
});

test('diagnose says that a proxy is silent, in some seconds', async () => {
  const carrier = await carrierWith(() => undefined);
  const startedAtMs = performance.now();

  const found = await check(carrier.hostPort, ACCOUNT);

  expect(performance.now() - startedAtMs).toBeLessThan(15_000);
  expect(found.wrong.map(({ step, message }) => [step, message])).toEqual([
    [
      'options',
      expect.stringMatching(/does not answer OPTIONS: .*firewall.*optionsIntervalSeconds/),
    ],
    ['registration', expect.stringMatching(/does not answer REGISTER/)],
  ]);
}, 30_000);

test('diagnose ends after 25 s in all, whatever the step before has taken', async () => {
  let passedMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs };
  const carrier = await carrierWith(({ method }) => {
    if (method === 'OPTIONS') passedMs = 24_000;
    return undefined;
  });
  const startedAtMs = performance.now();

  const found = await check(carrier.hostPort, ACCOUNT, clock);

  // 5 s for OPTIONS; of the 5 s for REGISTER nothing is left.
  expect(performance.now() - startedAtMs).toBeLessThan(8_000);
  expect(found.wrong.map(({ step }) => step)).toEqual(['options', 'registration']);
}, 30_000);

test('diagnose closes the connection to a port that leaves TLS unanswered, when its time is over', async () => {
  let passedMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs };
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined).resume());
    socket.once('close', () => open.delete(socket));
    passedMs = 24_000;
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const startedAtMs = performance.now();

  const found = await check(`127.0.0.1:${port};transport=tls`, {}, clock);
  await expect.poll(() => open.size).toBe(0);

  // Of the 5 s for TLS 1 s is left.
  expect(performance.now() - startedAtMs).toBeLessThan(3_000);
  expect(found.wrong.map(({ step }) => step)).toEqual(['certificate']);
}, 20_000);

test('diagnose follows the steps of a trunk that registers over TLS as far as it comes, and skips the others', async () => {
  const config = readConfig({});
  const trunk = trunkTo(`127.0.0.1:${await freePort()};transport=tls`, ACCOUNT);
  const addresses = openAddresses({
    ...{ config, trunks: [trunk], onChange: () => undefined, clock: systemClock, log },
  });
  const told: string[] = [];
  const onProgress = (steps: readonly { readonly step: string; readonly state: string }[]) => {
    told.push(steps.map(({ step, state }) => `${step} ${state}`).join(', '));
  };
  const watch = { onProgress, signal: new AbortController().signal };

  await diagnose(trunk, { config, addresses, clock: systemClock, log, watch });

  const rest = (state: string) =>
    ['certificate', 'options', 'registration', 'address', 'codecs', 'clock']
      .map((step) => `${step} ${state}`)
      .join(', ');
  expect(told).toEqual([
    `dns running, connection waiting, ${rest('waiting')}`,
    `dns ok, connection waiting, ${rest('waiting')}`,
    `dns ok, connection running, ${rest('waiting')}`,
    `dns ok, connection failed, ${rest('waiting')}`,
    `dns ok, connection failed, ${rest('skipped')}`,
  ]);
});

test('diagnose says that a connection is refused', async () => {
  const found = await check(`127.0.0.1:${await freePort()};transport=tcp`);

  expect(found.steps).toEqual(['dns', 'connection']);
  expect(found.wrong[0]?.message).toMatch(
    /TCP cannot reach .* refuses the connection; check the port/,
  );
});

test('diagnose connects by TCP, and says that the far end is silent there', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined).resume());
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));

  const found = await check(`127.0.0.1:${port};transport=tcp`);
  await wait(0);

  expect(found.wrong.map(({ step }) => step)).toEqual(['options']);
}, 20_000);

test('diagnose says that the name of the proxy does not resolve', async () => {
  const found = await check('nothing.invalid');

  expect(found.steps).toEqual(['dns']);
  expect(found.wrong[0]?.message).toMatch(/"nothing.invalid" has no address: check the spelling/);
});

test('diagnose says that SIP_HOST cannot reach a carrier outside', async () => {
  const found = await check('192.0.2.1');

  expect(found.wrong[0]?.message).toMatch(
    /SIP_HOST is 127\.0\.0\.1, which only this machine reaches/,
  );
});

test('diagnose says that the carrier sees another address', async () => {
  const carrier = await carrierWith(({ header }) => {
    const via = header('Via').replace(/;rport/, ';received=203.0.113.9;rport=40000');
    return { status: 200, headers: { Via: via } };
  });

  const found = await check(carrier.hostPort);

  expect(found.wrong).toEqual([
    {
      step: 'address',
      ok: false,
      message: expect.stringMatching(
        /sees this server at 203\.0\.113\.9, but is told 127\.0\.0\.1: set PUBLIC_ADDRESS/,
      ),
    },
  ]);
});

test.each([
  [-3600_000, /clock is 3\d\d\d s ahead of the carrier's: set it by NTP/],
  [3600_000, /clock is 3\d\d\d s behind the carrier's/],
])('diagnose says that a clock is off by %d ms', async (offMs, message) => {
  const Date_ = () => new Date(Date.now() + offMs).toUTCString();
  const carrier = await carrierWith(() => ({ status: 200, headers: { Date: Date_() } }));

  const found = await check(carrier.hostPort);

  expect(found.wrong[0]).toMatchObject({ step: 'clock', message: expect.stringMatching(message) });
});

test.each([
  ['18', /no common codec: the carrier has G729, the trunk PCMU and PCMA; allow/],
  ['9', /no common codec: the carrier has G722, the trunk PCMU and PCMA; add G722 to/],
  ['8 18', undefined],
])('diagnose compares the codecs of a carrier that tells %s', async (formats, message) => {
  const lines = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  const body = [...lines, `m=audio 4000 RTP/AVP ${formats}`, ''].join('\r\n');
  const headers = { 'Content-Type': 'application/sdp' };
  const carrier = await carrierWith(() => ({ status: 200, headers, body }));

  const found = await check(carrier.hostPort);

  const expected = message && { step: 'codecs', message: expect.stringMatching(message) };
  expect(found.wrong).toMatchObject(expected === undefined ? [] : [expected]);
});
