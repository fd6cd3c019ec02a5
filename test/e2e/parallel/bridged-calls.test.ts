/** A caller and a colleague on one call without the agent: who leaves first, what is kept, and who comes back. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import type { PhoneLine } from '../../../examples/phone/phone-line.ts';
import { readWav } from '../../../examples/phone/wav.ts';
import { wavHeader } from '../../../src/media/recording/wav-file.ts';
import { LIVE_KEY } from '../../support/server/server.ts';
import {
  COLLEAGUE,
  openTransferWorld,
  type TransferWorld,
} from '../../support/server/transfer-world.ts';
import { readStereo } from '../../support/speech/recording.ts';
import { loudestAmplitude } from '../../support/speech/tone.ts';
import { testFolder } from '../../support/store/test-store.ts';
import { tone } from '../../telephony/plane.ts';
import { everyoneHears } from '../../telephony/tones.ts';

const [CALLER_HZ, COLLEAGUE_HZ, MUSIC_HZ] = [300, 1_000, 700];

/** The agent calls the workshop when 5 is pressed, and says how it went. */
const SCRIPT = {
  name: 'a workshop',
  rules: [
    { id: 'back', when: { regex: 'transfer is over' }, say: 'They have hung up. Anything else?' },
    { id: 'failed', when: { tool: 'transfer_call' }, say: 'Nobody took the call.' },
    {
      id: 'warm',
      when: { regex: 'pressed 5' },
      say: 'One moment.',
      call: {
        tool: 'transfer_call',
        arguments: { destination: 'workshop', mode: 'warm', summary: 'A repair.' },
      },
    },
  ],
  otherwise: { say: 'I see.' },
};

const AGENT = {
  greeting: 'Hello.',
  tools: ['transfer_call'],
  settings: { transferTargets: [{ label: 'workshop', number: COLLEAGUE }] },
};

const RETURN = { settings: { ...AGENT.settings, afterTransfer: 'return' } };

const NOTHING = new Int16Array();

async function transcriptOf({ server }: TransferWorld, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript);
}

/** What the timeline has of the transfer and the end. */
async function endOf(world: TransferWorld, id: string): Promise<string[]> {
  return (await world.kindsOf(id)).filter((kind) => /^(transfer|bridge|ended)/.test(kind));
}

/** Both speak for so long, and hear each other. */
async function talkTogether(call: PhoneCall, theirs: PhoneCall, forMs: number): Promise<void> {
  void call.line.speak(tone(CALLER_HZ, forMs));
  void theirs.line.speak(tone(COLLEAGUE_HZ, forMs));
  await everyoneHears([theirs.line, CALLER_HZ], [call.line, COLLEAGUE_HZ]);
}

test('a colleague who hangs up first ends the call, which is on record with all of its time', async () => {
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent(AGENT);
  const { call, theirs, id } = await world.bridged();

  await talkTogether(call, theirs, 2_000);
  await sleep(2_000);
  await theirs.hangUp();
  await call.ended;
  const [record] = await world.server.endedCalls();

  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(record?.durationSeconds).toBeGreaterThanOrEqual(2);
  expect(await endOf(world, id)).toEqual(['transfer', 'bridge_ended', 'ended']);
});

test('a caller whose agent gets them back goes on with it, and both talks are in one recording', async () => {
  const world = await openTransferWorld(SCRIPT);
  const { server } = world;
  await server.createAgent({ ...AGENT, ...RETURN });
  const { call, theirs, id } = await world.bridged();

  await talkTogether(call, theirs, 2_000);
  const bridgedAtMs = performance.now();
  await sleep(1_500);
  await theirs.hangUp();
  await expect
    .poll(() => transcriptOf(world, id), { timeout: 15_000 })
    .toContain('They have hung up.');
  const whileBack = await server.api('GET', `/api/calls/${id}`);
  call.line.press('7#');
  await expect.poll(() => transcriptOf(world, id), { timeout: 15_000 }).toContain('I see.');
  await call.hangUp();
  const [record] = await server.endedCalls();
  const lastedMs = performance.now() - bridgedAtMs;
  const { left, right } = readStereo(join(server.dataDir, `recordings/${id}.wav`)) ?? {};

  expect(whileBack.body).toMatchObject({ status: 'in_progress', endReason: null });
  expect(record).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(await endOf(world, id)).toEqual(['transfer', 'bridge_ended', 'ended']);
  expect((left?.length ?? 0) / 8).toBeGreaterThan(lastedMs - 500);
  expect(loudestAmplitude(left ?? NOTHING, CALLER_HZ)).toBeGreaterThan(1_000);
  expect(loudestAmplitude(right ?? NOTHING, COLLEAGUE_HZ)).toBeGreaterThan(1_000);
});

test('a caller who hangs up first ends the call of the colleague, with both settings', async () => {
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent({ ...AGENT, ...RETURN });
  const { call, theirs, id } = await world.bridged();

  await talkTogether(call, theirs, 2_000);
  await call.hangUp();
  await theirs.ended;
  const [record] = await world.server.endedCalls();

  expect(record).toMatchObject({ status: 'completed', endReason: 'transferred' });
  expect(await endOf(world, id)).toEqual(['transfer', 'bridge_ended', 'ended']);
});

test('a colleague whose telephone falls silent for good is let go, and the caller comes back', async () => {
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent({ ...AGENT, ...RETURN });
  const { call, theirs, id } = await world.bridged();

  await talkTogether(call, theirs, 500);
  theirs.line.close();
  await theirs.ended;
  await expect
    .poll(() => transcriptOf(world, id), { timeout: 15_000 })
    .toContain('They have hung up.');
  await call.hangUp();
  const [record] = await world.server.endedCalls();

  expect(record).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

test.each([
  ['is busy', 486],
  ['does not answer', 480],
  ['never answers', null],
])('a caller whose colleague %s hears so from the agent, and music until then', async (_, status) => {
  const HOLD_MUSIC_FILE = musicFile(tone(MUSIC_HZ, 2_000));
  const world = await openTransferWorld(SCRIPT, { HOLD_MUSIC_FILE });
  await world.server.createAgent(AGENT);
  const rings = world.ringing();
  const { call, id } = await world.call();
  await sleep(1_500);

  call.line.press('5#');
  const ring = await rings;
  ring.ring();
  await everyoneHears([call.line, MUSIC_HZ]);
  if (status !== null) ring.reject(status);
  await expect
    .poll(() => transcriptOf(world, id), { timeout: 45_000 })
    .toContain('Nobody took the call.');
  await call.hangUp();
  const [record] = await world.server.endedCalls();

  expect(record).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
});

/** What the colleague says or presses after the question. */
const ANSWERS: Readonly<Record<string, (line: PhoneLine) => void>> = {
  'takes the call by key': (line) => line.press('1'),
  'takes the call by voice': (line) => void line.speak(voiceOf('yes-please.wav')),
  'declines by key': (line) => line.press('2'),
  'declines by voice': (line) => void line.speak(voiceOf('no-thank-you.wav')),
  'is a mailbox that answers nothing': () => undefined,
};

test.each(
  Object.entries(ANSWERS),
)('a colleague who %s is asked before the caller is connected', async (who, answerOn) => {
  const isTaken = who.startsWith('takes');
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent(AGENT);
  const rings = world.ringing();
  const { call, id } = await world.call();
  await sleep(1_500);

  call.line.press('5#');
  const theirs = await (await rings).answer();
  await heardOut(theirs.line);
  const kindsBefore = await world.kindsOf(id);
  answerOn(theirs.line);

  if (isTaken) {
    await expect.poll(() => world.kindsOf(id), { timeout: 10_000 }).toContain('transfer');
    await talkTogether(call, theirs, 2_000);
  } else {
    await theirs.ended;
    await expect
      .poll(() => transcriptOf(world, id), { timeout: 15_000 })
      .toContain('Nobody took the call.');
  }
  await call.hangUp();
  const [record] = await world.server.endedCalls();

  expect(kindsBefore).not.toContain('transfer');
  expect(record?.endReason).toBe(isTaken ? 'transferred' : 'user_hangup');
});

test('one who listens in hears both on a joined call', async () => {
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent(AGENT);
  const { call, theirs, id } = await world.bridged();
  await talkTogether(call, theirs, 4_000);

  const sound = await listen(world, id, 1_500);
  await call.hangUp();

  const side = (channel: number) => sound.filter((_, index) => index % 2 === channel);
  expect(loudestAmplitude(side(0), CALLER_HZ)).toBeGreaterThan(1_000);
  expect(loudestAmplitude(side(1), COLLEAGUE_HZ)).toBeGreaterThan(1_000);
});

test('kill -9 during a joined call: the next start ends the record, and both are hung up on', async () => {
  const world = await openTransferWorld(SCRIPT);
  await world.server.createAgent(AGENT);
  const { call, theirs, id } = await world.bridged();
  await talkTogether(call, theirs, 2_000);
  await sleep(2_000);

  world.server.kill('SIGKILL');
  await world.server.exited;
  const next = await world.restart();
  await Promise.all([call.ended, theirs.ended]);
  const { body } = await next.api('GET', `/api/calls/${id}`);

  expect(body).toMatchObject({ status: 'failed', endReason: 'error' });
  expect(body.durationSeconds).toBeGreaterThanOrEqual(2);
  expect(body.recordingUrl).not.toBeNull();
});

/** Resolves when the agent has announced the caller and asked: after two seconds without its voice. */
async function heardOut({ heard }: PhoneLine): Promise<void> {
  const isSaid = () => {
    const lastVoiced = heard.findLast(({ isVoiced }) => isVoiced);
    const newest = heard.at(-1);
    return lastVoiced && newest ? newest.atMs - lastVoiced.atMs > 2_000 : false;
  };
  await expect.poll(isSaid, { timeout: 40_000 }).toBe(true);
}

/** A phrase that the tiny recogniser knows. */
function voiceOf(name: string): Int16Array {
  return readWav(join(import.meta.dirname, '../../fixtures/speech', name));
}

function musicFile(pcm: Int16Array): string {
  const path = join(testFolder(), 'music.wav');
  const bytes = Buffer.from(pcm.buffer);
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ channels: 1, rateHz: 8_000 }, bytes.length), bytes]),
  );
  return path;
}

/** What a listener is sent for so long: caller left, the other side right. */
async function listen({ server }: TransferWorld, id: string, forMs: number): Promise<Int16Array> {
  const signal = AbortSignal.timeout(forMs);
  const headers = { Authorization: `Bearer ${LIVE_KEY}` };
  const url = `${server.baseUrl}/api/live/calls/${id}/audio`;
  const pieces: Uint8Array[] = [];
  try {
    const response = await fetch(url, { headers, signal });
    for await (const piece of response.body ?? []) pieces.push(piece);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const wav = Buffer.concat(pieces).subarray(44);
  return new Int16Array(Uint8Array.from(wav.subarray(0, wav.length - (wav.length % 4))).buffer);
}
