/** A real call as the live API shows it: levels, sound, quality, a failed transfer, and its timeline. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { levelDbfs } from '../../../src/media/dsp/level-meter.ts';
import { readWavHeader, WAV_HEADER_BYTES } from '../../../src/media/recording/wav-file.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { LIVE_KEY, startServer, type TestServer } from '../../support/server/server.ts';

const AGENT_NUMBER = '+12025550123';
const TARGET = '+12025550188';
const headers = { Authorization: `Bearer ${LIVE_KEY}` };

/** What the caller says: ten seconds of a tone of 500 Hz. */
const TONE = Int16Array.from({ length: 80_000 }, (_, at) =>
  Math.round(8000 * Math.sin((2 * Math.PI * 500 * at) / 8000)),
);
const TONE_DBFS = Math.round(levelDbfs(TONE));

let server: TestServer;
const phone = new Phone();

beforeAll(async () => {
  server = await (await startServer()).ready();
  await server.createAgent({ phoneNumber: AGENT_NUMBER, greeting: 'Hello, who is there?' });
  await phone.start();
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
});

/** A caller who makes a tone without end. */
async function ring(): Promise<{ readonly call: PhoneCall; readonly callId: string }> {
  const call = await phone.call(`sip:${AGENT_NUMBER}@127.0.0.1:${server.sipPort}`);
  void call.line.speak(TONE);
  return { call, callId: await server.callInProgress() };
}

interface Levels {
  readonly levels: readonly {
    readonly callId: string;
    readonly caller: number;
    readonly agent: number;
  }[];
}

/** The loudest of each side in so many events. */
async function loudest(callId: string, events: number) {
  const reader = new EventReader(
    await fetch(`${server.baseUrl}/api/live/calls?levels=true`, { headers }),
  );
  const loudest = { caller: -90, agent: -90 };
  for (let told = 0; told < events; ) {
    const { event, data } = await reader.next();
    if (event !== 'levels') continue;
    const own = (data as Levels).levels.find((one) => one.callId === callId);
    loudest.caller = Math.max(loudest.caller, own?.caller ?? -90);
    loudest.agent = Math.max(loudest.agent, own?.agent ?? -90);
    told += 1;
  }
  await reader.cancel();
  return loudest;
}

/** Listens for so long, or until the call is over. */
async function listen(callId: string, forMs: number): Promise<Buffer> {
  const until = AbortSignal.timeout(forMs);
  const response = await fetch(`${server.baseUrl}/api/live/calls/${callId}/audio`, {
    headers,
    signal: until,
  });
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of response.body ?? []) pieces.push(piece);
  } catch (error) {
    if (!until.aborted) throw error;
  }
  return Buffer.concat(pieces);
}

function packetsReceived(quality: Record<string, unknown>): number {
  return (quality.local as { packetsReceived: number }).packetsReceived;
}

function sideOf(wav: Buffer, channel: number): Int16Array {
  const samples = new Int16Array(Uint8Array.from(wav.subarray(WAV_HEADER_BYTES)).buffer);
  return samples.filter((_, index) => index % 2 === channel);
}

test('a call is seen and heard while it goes on, and measured when it is over', async () => {
  const { call, callId } = await ring();
  const path = `/api/calls/${callId}`;

  const [levels, sound] = await Promise.all([loudest(callId, 8), listen(callId, 2500)]);
  const soFar = (await server.api('GET', `${path}/quality`)).body;
  const transfer = await server.api('POST', `${path}/transfer`, { to: TARGET });
  await sleep(1000);
  const afterwards = (await server.api('GET', path)).body;
  const untilTheEnd = listen(callId, 20_000);
  await sleep(1500);
  await call.hangUp();
  const lastSound = await untilTheEnd;
  await server.endedCalls();
  const over = (await server.api('GET', path)).body;
  const quality = (await server.api('GET', `${path}/quality`)).body;
  const peaks = (await server.api('GET', `${path}/recording/peaks?points=50`)).body;
  const timeline = (await server.api('GET', `${path}/events`)).body;
  const tooLate = await server.api('GET', `/api/live/calls/${callId}/audio`);

  expect(Math.abs(levels.caller - TONE_DBFS)).toBeLessThanOrEqual(1);
  expect(levels.agent).toBeGreaterThan(-60);
  expect(readWavHeader(sound)?.dataBytes).toBe(0xffff_ffff);
  expect(sound.length).toBeGreaterThan(4 * 8 * 1500);
  const [caller, agent] = [sideOf(sound, 0), sideOf(sound, 1)];
  expect(Math.abs(levelDbfs(caller.slice(-8000)) - TONE_DBFS)).toBeLessThanOrEqual(1);
  expect(levelDbfs(agent)).toBeGreaterThan(-60);
  expect(lastSound.length).toBeGreaterThan(4 * 8 * 200);
  expect(packetsReceived(soFar)).toBeGreaterThan(50);
  expect(transfer).toEqual({ status: 202, body: { id: callId, callId, status: 'transferring' } });
  expect(afterwards.status).toBe('in_progress');
  expect(over).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(quality).toMatchObject({ codec: 'PCMU', remote: null });
  expect(packetsReceived(quality)).toBeGreaterThan(packetsReceived(soFar));
  // The telephone itself leaves packets out where the machine is busy.
  expect(quality.mos).toBeGreaterThan(3);
  const sides = peaks.peaks as { caller: number[]; agent: number[] };
  expect([sides.caller.length, Math.max(...sides.caller)]).toEqual([50, 0.24]);
  expect(Math.max(...sides.agent)).toBeGreaterThan(0.05);
  const kinds = (timeline.data as { kind: string }[]).map(({ kind }) => kind);
  expect(kinds).toContain('transfer_failed');
  expect(tooLate.status).toBe(409);
});
