/** Sounds of the line that are not speech, on a real call with the voice detector that comes with Offhook. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { createNoiseAgents, playSounds } from '../../support/speech/noise-calls.ts';
import { NON_SPEECH, noiseCallSounds } from '../../support/speech/non-speech.ts';

let server: TestServer;

beforeAll(async () => {
  // Nothing is installed: the detector is the one that comes with Offhook.
  const environment = { MODELS_DIR: join(tmpdir(), 'no-models-here') };
  server = await (await startServer({ environment })).ready();
});

afterAll(async () => {
  await server.stop();
});

test('Silero runs without a model installed, and is no stand-in', async () => {
  const { body } = await server.api('GET', '/readyz');

  const engines = body.engines as readonly { readonly job: string; readonly engine: string }[];
  const vad = engines.find(({ job }) => job === 'vad');
  expect(vad).toMatchObject({ engine: 'silero', standIn: null });
});

const SOUNDS = Object.keys(NON_SPEECH);

const CALLS = noiseCallSounds();

/** Each pause of the agent's voice is 300 ms; after three in a row sounds alone do not pause it. */
const HELD_UP_MS_MAX = 1500;

test('the sounds of lines, rooms, streets and music are no turns, and do not stop the agent', async () => {
  await createNoiseAgents(server);
  const [listens, [quiet, ...speaks]] = await Promise.all([
    playSounds(server, 'listens', CALLS),
    playSounds(server, 'speaks', [[], ...CALLS]),
  ]);

  const calls = [...listens, ...speaks];
  const minutes = calls.reduce((sum, call) => sum + call.minutes, 0);
  const falseTurns = calls.flatMap((call) => call.falseTurns);
  const heldUpMs = speaks.map(({ greetingMs }) => greetingMs - (quiet?.greetingMs ?? Number.NaN));
  expect(SOUNDS.length).toBeGreaterThanOrEqual(60);
  expect(minutes).toBeGreaterThan(10);
  // The target is none in 95 % of minutes: of ten minutes, one may have one.
  expect(falseTurns.length, JSON.stringify(falseTurns)).toBeLessThanOrEqual(1);
  expect(calls.filter(({ isCutOff }) => isCutOff).length).toBeLessThanOrEqual(1);
  expect(calls.filter(({ isQuestionHeard }) => !isQuestionHeard)).toEqual([]);
  expect(Math.max(...heldUpMs.filter((ms) => ms > 0))).toBeLessThan(HELD_UP_MS_MAX);
});
