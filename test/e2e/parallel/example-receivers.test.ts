/** The receivers of `examples/receive-webhooks`: signatures, repetitions, and a receiver that is down for a while. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generate } from '../../../clients/generator/generate.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { ExampleProgram } from '../../support/server/example-program.ts';
import { describeWithout, hasProgram } from '../../support/server/programs.ts';
import { startServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';

await generate(['typescript', 'python', 'php', 'ruby']);

// Debian's own Python, which has Debian's httpx.
const PYTHON = '/usr/bin/python3';
const FOLDER = 'examples/receive-webhooks';
const CLIENTS = join(import.meta.dirname, '../../../clients');

const hasHttpx = spawnSync(PYTHON, ['-c', 'import httpx']).status === 0;
const hasWebrick = spawnSync('ruby', ['-e', 'require "webrick"']).status === 0;

const RECEIVERS = [
  { name: 'receive.ts', missing: [], command: () => ['node', `${FOLDER}/receive.ts`] },
  {
    name: 'receive.py',
    missing: hasHttpx ? [] : ['python3-httpx'],
    command: () => [PYTHON, `${FOLDER}/receive.py`],
  },
  {
    name: 'receive.php',
    missing: hasProgram('php') ? [] : ['php'],
    command: (port: number) => ['php', '-S', `127.0.0.1:${port}`, `${FOLDER}/receive.php`],
  },
  {
    name: 'receive.rb',
    missing: hasWebrick ? [] : ['ruby-webrick'],
    command: () => ['ruby', '-I', 'clients/ruby/lib', `${FOLDER}/receive.rb`],
  },
];

let server: TestServer;
let secret: string;

beforeAll(async () => {
  const environment = { WEBHOOK_ALLOW_LOCAL: 'true', WEBHOOK_BACKOFF_SECONDS: '0,2,8,30,60' };
  server = await (await startServer({ environment })).ready();
  secret = String((await ask('GET', '/api/account/signing-secret')).signingSecret);
});
afterAll(() => server?.stop());

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** Status of a delivery, and how often it was tried. */
async function deliveryOf(id: unknown) {
  const { status, attemptDetails } = await ask('GET', `/api/webhooks/deliveries/${id}`);
  return { status, tries: (attemptDetails as readonly unknown[]).length };
}

describe.each(RECEIVERS)('$name', ({ name, missing, command }) => {
  describeWithout(missing, name, () => {
    test('takes what the server signed, once, refuses the rest, and misses nothing while it is down', async () => {
      const port = await freePort();
      const environment = {
        ...{ WEBHOOK_SECRET: secret, PORT: String(port) },
        PYTHONPATH: join(CLIENTS, 'python/src'),
      };
      const url = `http://127.0.0.1:${port}/hooks`;
      const listens = () => expect.poll(() => statusOf(url), { timeout: 60_000 }).toBe(401);
      const { id } = await ask('POST', '/api/webhooks/endpoints', { url, events: ['call.ended'] });
      const deliver = async () =>
        (await ask('POST', `/api/webhooks/endpoints/${id}/test`)).deliveryId;

      const receiver = new ExampleProgram(command(port), environment);
      await listens();
      const first = await deliver();
      await receiver.hasPrinted('received webhook.test');
      await expect
        .poll(async () => (await deliveryOf(first)).status, { timeout: 60_000 })
        .toBe('succeeded');
      await ask('POST', `/api/webhooks/deliveries/${first}/resend`);
      await expect
        .poll(async () => (await deliveryOf(first)).tries, { timeout: 60_000 })
        .toBeGreaterThan(1);
      await receiver.stop();

      const second = await deliver();
      await expect
        .poll(async () => (await deliveryOf(second)).tries, { timeout: 60_000 })
        .toBeGreaterThan(0);
      expect((await deliveryOf(second)).status).not.toBe('succeeded');
      const later = new ExampleProgram(command(port), environment);
      await listens();
      await expect
        .poll(async () => (await deliveryOf(second)).status, { timeout: 120_000 })
        .toBe('succeeded');

      expect(receiver.output).toContain('refused ');
      expect(receiver.output.match(/received webhook\.test/g)).toHaveLength(1);
      expect(later.output.match(/received webhook\.test/g)).toHaveLength(1);
    });
  });
});

/** What the receiver answers to a delivery that this server did not sign; 0 while it is not there. */
async function statusOf(url: string): Promise<number> {
  const headers = {
    'x-service-timestamp': String(Math.floor(Date.now() / 1000)),
    'x-service-signature': '00'.repeat(32),
  };
  const body = '{"event":"call.ended","id":"evt_forged"}';
  return fetch(url, { method: 'POST', headers, body }).then(
    ({ status }) => status,
    () => 0,
  );
}
