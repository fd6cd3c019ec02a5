/** A caller who is transferred by a second call: the record, and the audio between the parties. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RingingCall } from '../../../examples/phone/phone.ts';
import { COLLEAGUE, NUMBER, openTransferWorld } from '../../support/server/transfer-world.ts';
import { readStereo } from '../../support/speech/recording.ts';
import { loudestAmplitude } from '../../support/speech/tone.ts';
import { tone } from '../../telephony/plane.ts';
import { everyoneHears } from '../../telephony/tones.ts';

const [CALLER_HZ, COLLEAGUE_HZ] = [300, 1_000];

/** The agent's words to a third party, and to a caller who no longer needs it. */
const SCRIPT = {
  name: 'three on a line',
  rules: [
    { id: 'meet', when: { regex: 'other party is on the line' }, say: 'Here is the workshop.' },
    { id: 'bye', when: { regex: 'pressed 9' }, say: 'Goodbye, both.', call: { tool: 'end_call' } },
  ],
  otherwise: { say: '…' },
};

const NOTHING = new Int16Array();

test('a caller whose carrier refuses REFER is joined with a colleague, and a server that drains waits for both', async () => {
  const { server, caller, colleague, kindsOf } = await openTransferWorld(SCRIPT);
  await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();

  const asked = await server.api('POST', `/api/calls/${id}/transfer`, { to: COLLEAGUE });
  const theirs = await (await rings).answer();
  await expect.poll(() => kindsOf(id), { timeout: 5_000 }).toContain('transfer');
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
  expect(detail.body).toMatchObject({ status: 'in_progress', endReason: null });
  expect(status).toBe(0);
});

test('a joined call stays on record, recorded and counted, until the interface hangs up on both', async () => {
  const { server, caller, colleague, kindsOf } = await openTransferWorld(SCRIPT);
  await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const lines = async () => {
    const { body } = await server.api('GET', '/api/trunks');
    return (body.data as readonly { readonly callsInProgress: number }[])[0]?.callsInProgress;
  };

  await server.api('POST', `/api/calls/${id}/transfer`, { to: COLLEAGUE });
  const theirs = await (await rings).answer();
  await expect.poll(() => kindsOf(id), { timeout: 5_000 }).toContain('transfer');
  const joinedAtMs = performance.now();
  void call.line.speak(tone(CALLER_HZ, 3_000));
  void theirs.line.speak(tone(COLLEAGUE_HZ, 3_000));
  await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const inUse = await lines();
  const hungUp = await server.api('POST', `/api/calls/${id}/hangup`);
  await Promise.all([call.ended, theirs.ended]);
  const joinedMs = performance.now() - joinedAtMs;
  const [record] = await server.endedCalls();
  const events = await server.api('GET', `/api/calls/${id}/events`);
  const { left, right } = readStereo(join(server.dataDir, `recordings/${id}.wav`)) ?? {};

  expect(hungUp.status).toBe(202);
  expect(inUse).toBe(2);
  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(record?.durationSeconds).toBeGreaterThanOrEqual(Math.floor(joinedMs / 1000));
  expect((left?.length ?? 0) / 8).toBeGreaterThan(joinedMs - 500);
  expect(loudestAmplitude(left ?? NOTHING, CALLER_HZ)).toBeGreaterThan(1_000);
  expect(loudestAmplitude(right ?? NOTHING, COLLEAGUE_HZ)).toBeGreaterThan(1_000);
  const kinds = (events.body.data as readonly { readonly kind: string }[]).map(({ kind }) => kind);
  const at = kinds.indexOf('transfer');
  expect(kinds.slice(at, at + 3)).toEqual(['transfer', 'bridge_ended', 'ended']);
});

test('a joined call ends when the longest duration of its agent is over', async () => {
  const { server, caller, colleague } = await openTransferWorld(SCRIPT);
  await server.createAgent({
    greeting: 'Hello. '.repeat(60),
    settings: { maxDurationSeconds: 10 },
  });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();

  await server.api('POST', `/api/calls/${id}/transfer`, { to: COLLEAGUE });
  const theirs = await (await rings).answer();
  void call.line.speak(tone(CALLER_HZ, 12_000));
  void theirs.line.speak(tone(COLLEAGUE_HZ, 12_000));
  await Promise.all([call.ended, theirs.ended]);
  const [record] = await server.endedCalls();

  expect(record).toMatchObject({ endReason: 'transferred' });
  expect([10, 11]).toContain(record?.durationSeconds);
});

test('an agent introduces a caller and a colleague to each other on one line, and leaves it to them', async () => {
  const { server, caller, colleague, kindsOf } = await openTransferWorld(SCRIPT);
  await server.createAgent({ greeting: 'Hello.' });
  const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const kinds = () => kindsOf(id);

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
  await expect.poll(kinds, { timeout: 20_000 }).toContain('transfer');
  void call.line.speak(tone(CALLER_HZ, 5_000));
  void theirs.line.speak(tone(COLLEAGUE_HZ, 5_000));
  await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
  await theirs.hangUp();
  await call.ended;
  const [record] = await server.endedCalls();

  expect(asked.status).toBe(202);
  expect(status).toBe('in_progress');
  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect((await kinds()).filter((kind) => /^(three|transfer|bridge|ended)/.test(kind))).toEqual([
    'three_way',
    'transfer',
    'bridge_ended',
    'ended',
  ]);
});
