/** A server whose main thread hangs during a call ends itself, and the next start has the call on record as failed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';
const HANG = new URL('../../support/time/hang-main-thread.ts', import.meta.url).href;

test('a main thread that hangs ends the server after a minute, and the next one has the call as failed', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-hung-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const environment = { NODE_OPTIONS: `--import=${HANG}` };
  const server = await startServer({ dataDir, environment });
  onTestFinished(() => server.stop());
  await server.ready();
  await server.createAgent({ phoneNumber: NUMBER });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();

  server.kill('SIGUSR2');
  const status = await server.exited;
  const next = await startServer({ dataDir });
  onTestFinished(() => next.stop());
  await next.ready();
  const { body: call } = await next.api('GET', `/api/calls/${id}`);

  // A signal ended it.
  expect(status).toBeNull();
  expect(server.output).toContain('The main thread has hung for 60 s');
  expect(server.output).toMatch(/^ {4}at hang \(file:/m);
  expect(call).toMatchObject({ status: 'failed', endReason: 'error' });
});
