/** Variables of a greeting, from the request that places a call to what is said on it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const OURS = '+12025550123';
const THEIRS = '+12025550177';

/** Longer than the greeting lasts. */
const GREETING_MS = 6000;

const folder = mkdtempSync(join(tmpdir(), 'offhook-variables-'));
const phone = new Phone({ number: THEIRS });
let server: TestServer;
let agentId: string;

beforeAll(async () => {
  await phone.start();
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const trunk = { name: 'here', proxy: phone.hostPort(), allowedSources: ['127.0.0.1'] };
  const options = { numbers: [OURS], optionsIntervalSeconds: 0 };
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, ...options }]));
  server = await (await startServer({ environment: { SIP_TRUNKS } })).ready();
  agentId = await server.createAgent({
    phoneNumber: OURS,
    greeting: 'Hello {{name|there}}, this is about the table for {{persons|four}}.',
  });
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  [{ name: 'Ana' }, 'Hello Ana, this is about the table for four.'],
  [{}, 'Hello there, this is about the table for four.'],
])('a call with the metadata %o is greeted with "%s"', async (metadata, greeting) => {
  const ringing = new Promise<RingingCall>((resolve) => phone.onRinging(resolve));
  const placed = await server.api('POST', '/api/calls/outbound', {
    ...{ agentId, to: THEIRS, from: OURS, metadata },
  });

  const call = await (await ringing).answer();
  await setTimeout(GREETING_MS);
  await call.hangUp();

  await server.endedCalls();
  const { body } = await server.api('GET', `/api/calls/${placed.body.callId}`);
  const [first] = body.transcript as readonly { readonly text: string }[];
  expect(first?.text).toBe(greeting);
});
