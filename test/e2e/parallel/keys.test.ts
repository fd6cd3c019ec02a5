/** Telephone keys both ways, as telephone-event and in the sound: what the agent hears of a caller's, and what it presses itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

/** Presses an extension when the far end presses 5. */
const SCRIPT = {
  name: 'extension',
  rules: [
    { id: 'pressed', when: { tool: 'send_digits' }, say: 'Done with the keys.' },
    {
      id: 'menu',
      when: { regex: 'pressed 5' },
      say: 'One moment.',
      call: { tool: 'send_digits', arguments: { digits: '204#wA9*' } },
    },
    { id: 'number', when: { regex: 'pressed 1 2 0 9' }, say: 'Twelve hundred and nine.' },
  ],
  otherwise: { say: '…' },
};

async function openWorld(hasKeyEvents: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-keys-'));
  const SCRIPT_FILE = join(folder, 'script.json');
  writeFileSync(SCRIPT_FILE, JSON.stringify(SCRIPT));
  const server = await (await startServer({ environment: { SCRIPT_FILE } })).ready();
  const phone = new Phone();
  await phone.start();
  onTestFinished(async () => {
    await phone.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.createAgent({ greeting: 'Hello.', tools: ['send_digits'] });
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`, { hasKeyEvents });
  const id = await server.callInProgress();
  await expect.poll(() => wordsOf(server, id), { timeout: 10_000 }).toContain('Hello.');
  return { server, call, id };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

test.each([
  ['as telephone-event', true],
  ['by tones', false],
])('a caller presses keys %s, and the agent answers with keys of its own', async (_way, hasKeyEvents) => {
  const { server, call, id } = await openWorld(hasKeyEvents);

  call.line.press('1209#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('Twelve hundred');
  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('Done with');
  const transcript = await wordsOf(server, id);
  await call.hangUp();

  expect(call.line.digits).toBe('204#A9*');
  expect(transcript.match(/"role":"user"/g)).toHaveLength(2);
  expect(server.output).not.toContain('204#');
});
