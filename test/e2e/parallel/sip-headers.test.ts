/** Headers of calls from the wire to the REST interface, and back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const OURS = '+12025550123';
const THEIRS = '+12025550177';

const folder = mkdtempSync(join(tmpdir(), 'offhook-headers-'));
const phone = new Phone({ number: THEIRS });
let server: TestServer;
let agentId: string;

beforeAll(async () => {
  await phone.start();
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const trunk = { name: 'here', proxy: phone.hostPort(), allowedSources: ['127.0.0.1'] };
  const options = { numbers: [OURS], optionsIntervalSeconds: 0, callerIdHeader: 'rpid' };
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, ...options }]));
  server = await (await startServer({ environment: { SIP_TRUNKS } })).ready();
  agentId = await server.createAgent({ phoneNumber: OURS });
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the headers of an incoming call are in its metadata, and its Identity in its SIP trace', async () => {
  const identity = 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln;info=<https://cert.example/a.pem>;alg=ES256';
  const call = await phone.call(`sip:${OURS}@127.0.0.1:${server.sipPort}`, {
    headers: {
      'X-Account-Id': '42',
      Diversion: `<sip:+12025550124@127.0.0.1>;reason=no-answer`,
      'P-Asserted-Identity': `<sip:${THEIRS};verstat=TN-Validation-Passed@127.0.0.1>`,
      Identity: identity,
    },
  });
  await call.hangUp();
  const [{ id } = { id: '' }] = await server.endedCalls();

  const { body } = await server.api('GET', `/api/calls/${id}`);
  const trace = await server.api('GET', `/api/calls/${id}/sip`);

  expect(body.metadata).toEqual({
    sip: {
      headers: { 'x-account-id': '42' },
      diversion: [{ number: '+12025550124', reason: 'no-answer' }],
      verstat: 'TN-Validation-Passed',
    },
  });
  expect(JSON.stringify(trace.body)).toContain('eyJhbGciOiJFUzI1NiJ9.e30.c2ln');
  expect(server.output).not.toContain('12025550124');
});

test('the headers of an outbound call are in its INVITE, with the caller as the trunk wants it', async () => {
  const ringing = new Promise<RingingCall>((resolve) => phone.onRinging(resolve));
  const headers = { 'X-Customer': 'c-1029', 'User-to-User': '56a390f3;encoding=hex' };

  const { status } = await server.api('POST', '/api/calls/outbound', {
    ...{ agentId, to: THEIRS, headers },
  });
  const { request, reject } = await ringing;
  reject(486);

  expect(status).toBe(202);
  expect(request.get('x-customer')).toBe('c-1029');
  expect(request.get('user-to-user')).toBe('56a390f3;encoding=hex');
  expect(request.get('remote-party-id')).toContain(`<sip:${OURS}@`);
});
