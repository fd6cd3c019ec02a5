/** A trunk is set up, changed and removed over REST while the server runs: everything follows at once. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { adminIn } from '../../support/server/admin.ts';
import { startServer } from '../../support/server/server.ts';
import { CHALLENGE, REGISTRAR, startCarrier } from '../../support/sip/scripted-carrier.ts';

const NUMBER = '+12025550123';

/** Registering takes milliseconds; the rest is for a busy machine. */
const SOON = { timeout: 15_000, interval: 100 };

async function openWorld() {
  const carrier = await startCarrier(REGISTRAR);
  const phone = new Phone();
  await phone.start();
  const server = await startServer();
  onTestFinished(async () => {
    await server.stop();
    await phone.stop();
    await carrier.stop();
  });
  await server.ready();
  await server.createAgent({ phoneNumber: NUMBER });
  const settings = {
    name: 'acme',
    proxy: carrier.hostPort,
    username: 'joe',
    password: 'the-password',
    register: true,
    numbers: [NUMBER],
    allowedSources: ['127.0.0.1'],
  };
  const registers = () =>
    carrier
      .of('REGISTER')
      .filter((request) => request.header('Authorization') !== '')
      .map((request) => request.header('Expires'));
  const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
  const stateOf = async () => (await server.api('GET', '/api/trunks/acme')).body.state;
  return { server, phone, carrier, settings, registers, uri, stateOf };
}

test('a trunk set up over REST registers, takes calls by its sources, and leaves calls alone when it goes', async () => {
  const { server, phone, settings, registers, uri, stateOf } = await openWorld();

  const created = await server.api('POST', '/api/trunks', settings);
  await expect.poll(stateOf, SOON).toBe('ready');
  const call = await phone.call(uri);
  const callId = await server.callInProgress();
  await server.api('PATCH', '/api/trunks/acme', { maxCalls: 1 });
  const full = phone.call(uri);
  await expect(full).rejects.toThrow('503');
  const numbers = await server.api('GET', '/api/phone-numbers');
  await server.api('PATCH', '/api/trunks/acme', { allowedSources: ['192.0.2.1'] });
  const { invite } = await phone.dial(uri);
  const { response: refused } = await invite.outcome;
  const removed = await server.api('DELETE', '/api/trunks/acme');
  const during = (await server.api('GET', `/api/calls/${callId}`)).body.status;

  expect(created.status).toBe(201);
  expect(JSON.stringify(created.body)).not.toContain('the-password');
  expect(numbers.body.data).toMatchObject([{ number: NUMBER, trunks: ['acme'] }]);
  expect([refused.status, removed.status]).toEqual([403, 204]);
  expect(registers()).toEqual(['300', '0']);
  expect([call.dialog.state, during]).toEqual(['confirmed', 'in_progress']);
  await call.hangUp();
  await server.endedCalls();
});

test('a trunk set up over REST is there after a restart', async () => {
  const { server, settings, stateOf } = await openWorld();
  await server.api('POST', '/api/trunks', settings);
  await expect.poll(stateOf, SOON).toBe('ready');

  server.kill('SIGTERM');
  await server.exited;
  const again = await startServer({ dataDir: server.dataDir });
  onTestFinished(() => again.stop());
  await again.ready();

  expect((await again.api('GET', '/api/trunks')).body.data).toMatchObject([
    { name: 'acme', source: 'api', hasPassword: true, numbers: [NUMBER] },
  ]);
});

test('POST /api/trunks/{name}/check and "admin trunk check" tell a wrong password of a running server', async () => {
  const { server, settings, carrier } = await openWorld();
  await server.api('POST', '/api/trunks', settings);
  carrier.script = ({ method }) => (method === 'REGISTER' ? CHALLENGE : { status: 200 });

  const answered = await server.api('POST', '/api/trunks/acme/check');
  const told = await adminIn(server.dataDir, ['trunk', 'check', 'acme']);
  const unknown = await adminIn(server.dataDir, ['trunk', 'check', 'none']);
  const listed = await adminIn(server.dataDir, ['trunk', 'list']);

  const wrong = expect.stringMatching(/refuses the password of user "joe"/);
  expect(answered).toMatchObject({ status: 200, body: { ok: false } });
  expect(answered.body.steps).toContainEqual({ step: 'registration', ok: false, message: wrong });
  expect(told).toMatchObject({ status: 1, err: '' });
  expect(told.out).toMatch(/^WRONG +registration +the carrier refuses the password/m);
  expect(unknown).toMatchObject({ status: 1, err: expect.stringContaining('there are: acme') });
  expect(listed.out).toMatch(/^acme +api +127\.0\.0\.1:\d+ +udp +yes/m);
  expect(`${JSON.stringify(answered)}${told.out}${listed.out}`).not.toContain('the-password');
});

test('/readyz names a trunk whose password is wrong, and stays 200 while another trunk works', async () => {
  const { server, settings, carrier } = await openWorld();
  carrier.script = ({ method }) => (method === 'REGISTER' ? CHALLENGE : { status: 200 });
  const readyz = async () => {
    const response = await fetch(`${server.baseUrl}/readyz`);
    const { carriers } = (await response.json()) as {
      readonly carriers: readonly { readonly name: string; readonly state: string }[];
    };
    return [response.status, carriers.find(({ name }) => name === 'trunk acme')?.state];
  };
  const refused = `not registered with ${settings.proxy}: the carrier answered 401: check username and password`;

  await server.api('POST', '/api/trunks', settings);
  await expect.poll(readyz, SOON).toEqual([503, refused]);
  await server.api('POST', '/api/trunks', { name: 'other', proxy: settings.proxy });
  const withOther = await readyz();
  const removed = await adminIn(server.dataDir, ['trunk', 'remove', 'other']);
  const again = await adminIn(server.dataDir, ['trunk', 'remove', 'other']);

  expect(withOther).toEqual([200, refused]);
  expect([removed.status, again.status]).toEqual([0, 1]);
  expect(again.err).toContain('there is none of this name');
});
