/** A caller who is handed over by a second call: what is on record, and who talks to whom. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import { startServer } from '../support/server.ts';
import { tone } from '../telephony/plane.ts';
import { everyoneHears } from '../telephony/tones.ts';

const NUMBER = '+12025550123';
const COLLEAGUE = '+12025550177';
const [CALLER_HZ, COLLEAGUE_HZ] = [300, 1_000];

/** What the agent says to somebody who is brought in, and to a caller who needs it no more. */
const SCRIPT = {
  name: 'three on a line',
  rules: [
    { id: 'meet', when: { regex: 'other party is on the line' }, say: 'Here is the workshop.' },
    { id: 'bye', when: { regex: 'pressed 9' }, say: 'Goodbye, both.', call: { tool: 'end_call' } },
  ],
  otherwise: { say: '…' },
};

async function openWorld() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-transfer-'));
  const [caller, colleague] = [new Phone(), new Phone({ number: COLLEAGUE })];
  await Promise.all([caller.start(), colleague.start()]);
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const proxy = colleague.hostPort();
  const trunk = { name: 'office', proxy, numbers: [NUMBER], allowedSources: ['127.0.0.1'] };
  writeFileSync(SIP_TRUNKS, JSON.stringify([trunk]));
  const SCRIPT_FILE = join(folder, 'script.json');
  writeFileSync(SCRIPT_FILE, JSON.stringify(SCRIPT));
  const environment = { SIP_TRUNKS, SCRIPT_FILE, DRAIN_TIMEOUT_SECONDS: '20' };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(async () => {
    await server.stop();
    await Promise.all([caller.stop(), colleague.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, caller, colleague };
}

test('a caller whose carrier refuses REFER is joined with a colleague, and a server that drains waits for both', async () => {
  const { server, caller, colleague } = await openWorld();
  await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();

  const asked = await server.api('POST', `/api/calls/${id}/transfer`, { to: COLLEAGUE });
  const theirs = await (await rings).answer();
  const [record] = await server.endedCalls();
  const events = await server.api('GET', `/api/calls/${id}/events`);
  const detail = await server.api('GET', `/api/calls/${id}`);
  server.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  void call.line.speak(tone(CALLER_HZ, 5_000));
  void theirs.line.speak(tone(COLLEAGUE_HZ, 5_000));
  await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
  await theirs.hangUp();
  await call.ended;
  const status = await server.exited;

  expect(asked.status).toBe(202);
  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  const kinds = (events.body.data as readonly { readonly kind: string }[]).map(({ kind }) => kind);
  expect(kinds.indexOf('transfer')).toBeGreaterThan(0);
  expect(kinds.indexOf('transfer')).toBeLessThan(kinds.indexOf('ended'));
  expect(detail.body.recordingUrl).toContain('http');
  expect(status).toBe(0);
});

test('an agent introduces a caller and a colleague to each other on one line, and leaves it to them', async () => {
  const { server, caller, colleague } = await openWorld();
  await server.createAgent({ greeting: 'Hello.' });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const kinds = async () => {
    const events = await server.api('GET', `/api/calls/${id}/events`);
    return (events.body.data as readonly { readonly kind: string }[]).map(({ kind }) => kind);
  };

  const wish = { to: COLLEAGUE, mode: 'three-way', summary: 'A question about a repair.' };
  const asked = await server.api('POST', `/api/calls/${id}/transfer`, wish);
  const theirs = await (await rings).answer();
  await theirs.line.speak(tone(COLLEAGUE_HZ, 300));
  await expect.poll(kinds, { timeout: 20_000 }).toContain('three_way');
  const metAt = [call, theirs].map(({ line }) => line.heard.length);
  const voiced = () =>
    [call, theirs].map(({ line }, at) =>
      line.heard.slice(metAt[at]).some(({ isVoiced }) => isVoiced),
    );
  await expect.poll(voiced, { timeout: 10_000 }).toEqual([true, true]);
  const detail = async () => (await server.api('GET', `/api/calls/${id}`)).body;
  const words = async () => JSON.stringify((await detail()).transcript);
  await expect.poll(words, { timeout: 10_000 }).toContain('Here is the workshop.');
  const { status } = await detail();
  call.line.press('9#');
  const [record] = await server.endedCalls();
  void call.line.speak(tone(CALLER_HZ, 5_000));
  void theirs.line.speak(tone(COLLEAGUE_HZ, 5_000));
  await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
  await theirs.hangUp();
  await call.ended;

  expect(asked.status).toBe(202);
  expect(status).toBe('in_progress');
  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect((await kinds()).filter((kind) => /^(three|transfer|ended)/.test(kind))).toEqual([
    'three_way',
    'transfer',
    'ended',
  ]);
});
