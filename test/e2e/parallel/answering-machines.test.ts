/** Outgoing calls that people and answering machines take, over real SIP and RTP, with the models that come with Offhook. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer } from '../../support/server/server.ts';
import { speakPhrase } from '../../support/speech/espeak-phrase.ts';
import { NO_MODELS } from '../../support/speech/monologue-calls.ts';
import { tone } from '../../support/speech/tone.ts';

const FROM = '+12025550123';
const GREETING =
  'Thank you for calling Miller and sons. Our office is closed until Monday and we are not able to answer right now.';
const MESSAGE = 'This is the dentist. Please call us back.';
const LEAVE = { action: 'leave_message', message: MESSAGE };

const silence = (ms: number) => new Int16Array(ms * 8);
const speak = (text: string) =>
  speakPhrase(text, { voice: 'en-US', speed: 160, pitch: 40, levelDbfs: -22 });
const joined = (...sounds: readonly Int16Array[]) =>
  Int16Array.from(sounds.flatMap((sound) => [...sound]));

/** A server whose trunk leads to a telephone that answers with this sound. */
async function openWorld(sound: Int16Array) {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-machines-'));
  const callee = new Phone({ number: '12125550100' });
  const answered = Promise.withResolvers<{ phone: PhoneCall; spokenAtMs: Promise<number> }>();
  await callee.start();
  callee.onRinging((call) => {
    void call.answer().then((phone) => {
      const spokenAtMs = phone.line.speak(sound).then(({ lastVoicedAtMs }) => lastVoicedAtMs);
      answered.resolve({ phone, spokenAtMs });
    });
  });
  const trunk = { name: 'phone', proxy: callee.hostPort(), numbers: [FROM] };
  const SIP_TRUNKS = join(dataDir, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, optionsIntervalSeconds: 0 }]));
  const server = await (
    await startServer({ dataDir, environment: { ...NO_MODELS, SIP_TRUNKS } })
  ).ready();
  onTestFinished(async () => {
    await server.stop();
    await callee.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { server, answered: answered.promise };
}

/** Calls the telephone, and waits for the end: the agent's, or the callee's after `talkMs`. */
async function call(
  sound: Int16Array,
  voicemail: Readonly<Record<string, unknown>>,
  talkMs?: number,
) {
  const { server, answered } = await openWorld(sound);
  const agentId = await server.createAgent({ greeting: 'Hello.', settings: { voicemail } });
  const request = { agentId, to: '+12125550100', overrides: { maxDurationSeconds: 30 } };
  const { status, body } = await server.api('POST', '/api/calls/outbound', request);
  expect(status).toBe(202);
  const { phone, spokenAtMs } = await answered;
  const { line } = phone;
  const calleeDoneAtMs = await spokenAtMs;
  if (talkMs !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, talkMs));
    await phone.hangUp();
  }
  await server.endedCalls();
  const record = (await server.api('GET', `/api/calls/${body.callId}`)).body;
  const entries = (record.transcript ?? []) as readonly { role: string; text: string }[];
  const said = entries.filter(({ role }) => role === 'agent').map(({ text }) => text);
  const voiced = line.heard.filter(({ isVoiced }) => isVoiced);
  const heardMs = voiced.length * 20;
  return { record, said, calleeDoneAtMs, firstHeardAtMs: voiced[0]?.atMs, heardMs };
}

/** Every twentieth packet is silence, as gateways send it in the place of one that they have lost. */
function withLoss(pcm: Int16Array): Int16Array {
  const lossy = pcm.slice();
  for (let at = 7 * 160; at < lossy.length; at += 20 * 160) lossy.fill(0, at, at + 160);
  return lossy;
}

describeWith(['espeak-ng'], 'outgoing calls to answering machines', () => {
  test('hang_up ends the call while the machine speaks, without a word', async () => {
    const greeting = joined(silence(400), await speak(GREETING));

    const { record, said, heardMs } = await call(greeting, { action: 'hang_up' });

    expect(record).toMatchObject({ answeredBy: 'machine', endReason: 'agent_hangup' });
    expect({ said, heardMs }).toEqual({ said: [], heardMs: 0 });
  });

  test.each([
    ['without loss', (pcm: Int16Array) => pcm],
    ['with every twentieth packet silent', withLoss],
  ])('leave_message is heard whole after the beep, %s', async (_, line) => {
    const beep = joined(silence(500), tone(1000, 500, 6000));
    const greeting = line(joined(silence(400), await speak(GREETING), beep));

    const { record, said, calleeDoneAtMs, firstHeardAtMs, heardMs } = await call(greeting, LEAVE);

    expect(record).toMatchObject({ answeredBy: 'machine', endReason: 'agent_hangup' });
    expect(said).toEqual([MESSAGE]);
    expect(firstHeardAtMs).toBeGreaterThan(calleeDoneAtMs);
    expect(heardMs).toBeGreaterThan(1200);
  });

  test('leave_message begins after silence where the beep never comes', async () => {
    const greeting = joined(silence(400), await speak(GREETING));

    const { record, said, calleeDoneAtMs, firstHeardAtMs } = await call(greeting, LEAVE);

    expect(record).toMatchObject({ answeredBy: 'machine', endReason: 'agent_hangup' });
    expect(said).toEqual([MESSAGE]);
    expect((firstHeardAtMs ?? 0) - calleeDoneAtMs).toBeGreaterThan(1000);
    expect((firstHeardAtMs ?? 0) - calleeDoneAtMs).toBeLessThan(6000);
  });

  test.each([
    LEAVE,
    { action: 'hang_up' },
  ])('a person is greeted soon after their hello: $action', async (voicemail) => {
    const hello = joined(silence(400), await speak('Hello?'));

    const { record, said, calleeDoneAtMs, firstHeardAtMs } = await call(hello, voicemail, 4000);

    expect(record).toMatchObject({ answeredBy: 'human', endReason: 'user_hangup' });
    expect(said[0]).toBe('Hello.');
    expect((firstHeardAtMs ?? 0) - calleeDoneAtMs).toBeLessThan(2000);
  });
});
