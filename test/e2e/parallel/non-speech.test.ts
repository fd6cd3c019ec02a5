/** Sounds of the line that are not speech, on a real call with the voice detector that comes with Offhook. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { nonSpeech } from '../../support/speech/non-speech.ts';

const NUMBER = '+12025550123';
const QUIET_MS = 600;
const WAIT_MS_MAX = 15_000;
const QUESTION = 'What are your opening hours?';

const SOUNDS = ['DTMF 5', 'ringback, Europe', 'busy, North America', 'a tone of 1 kHz', 'knocking'];

let server: TestServer;
const phone = new Phone();

beforeAll(async () => {
  // Nothing is installed: the detector is the one that comes with Offhook.
  const environment = { MODELS_DIR: join(tmpdir(), 'no-models-here') };
  server = await (await startServer({ environment })).ready();
  await phone.start();
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
});

test('Silero runs without a model installed, and is no stand-in', async () => {
  const { body } = await server.api('GET', '/readyz');

  const engines = body.engines as readonly { readonly job: string; readonly engine: string }[];
  const vad = engines.find(({ job }) => job === 'vad');
  expect(vad).toMatchObject({ engine: 'silero', standIn: null });
});

test('tones and knocks are no turns; the question after them is heard', async () => {
  await server.createAgent({ phoneNumber: NUMBER });
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  const isGreeted = await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);

  for (const sound of SOUNDS) await call.line.speak(nonSpeech(sound, 3));
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
  await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
  await call.hangUp();

  const [ended] = await server.endedCalls();
  const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
  const transcript = body.transcript as readonly { readonly role: string; readonly text: string }[];
  const said = transcript.filter(({ role }) => role === 'user').map(({ text }) => text);
  expect(isGreeted).toBe(true);
  expect(said).toEqual([QUESTION]);
});
