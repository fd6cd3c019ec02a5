/** Calls through RTP while recognition and voices are servers on the network, and while those fail. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { OpenAiSpeechServer, type ServerFault } from '../../support/speech/openai-speech-server.ts';
import { SERVER_VOICE_HZ } from '../../support/speech/served-speech.ts';
import { loudestAmplitude } from '../../support/speech/tone.ts';
import {
  type WyomingFault,
  WyomingSpeechServer,
} from '../../support/speech/wyoming-speech-server.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const PHRASES = ['I would like to book an appointment.', 'What are your opening hours?'] as const;

/** Louder than this at the server's frequency is its voice; espeak-ng has some energy everywhere. */
const TONE_AMPLITUDE_MIN = 6000;

const REPLY =
  'Thank you, that was well said. I have made a note of it, and a colleague will ring you.';

async function speechServer(port = 0): Promise<OpenAiSpeechServer> {
  const server = await OpenAiSpeechServer.start(port);
  undo.push(() => server.stop());
  return server;
}

async function wyomingServer(port = 0): Promise<WyomingSpeechServer> {
  const server = await WyomingSpeechServer.start(port);
  undo.push(() => server.stop());
  return server;
}

/** A server with an agent that always gives the same answer. */
async function startOffhook(environment: Readonly<Record<string, string>>): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-speech-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'script.json');
  const rules = [{ id: 'anything', when: { any: true }, say: REPLY }];
  writeFileSync(script, JSON.stringify({ name: 'notes', rules, otherwise: { say: REPLY } }));
  const server = await startServer({
    environment: { MODELS_DIR: 'models/tiny', SCRIPT_FILE: script, ...environment },
  });
  undo.push(() => server.stop());
  await server.ready();
  await server.createAgent({ greeting: 'Hello.' });
  return server;
}

interface Talk {
  readonly call: PhoneCall;
  readonly listener: Listener;
}

async function ring(server: TestServer): Promise<Talk> {
  const phone = new Phone();
  await phone.start();
  undo.push(() => phone.stop());
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  expect(await listener.hasSpoken(0, 500, 10_000), 'the greeting is heard').toBe(true);
  return { call, listener };
}

/** Says a phrase and hears the answer to its end. @returns the time until the answer began. */
async function say({ call, listener }: Talk, text: string): Promise<number> {
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(text));
  const isAnswered = await listener.hasSpoken(lastVoicedAtMs, 1000, 20_000);
  expect(isAnswered, `"${text}" is answered`).toBe(true);
  return (listener.firstVoicedAfter(lastVoicedAtMs) ?? Number.NaN) - lastVoicedAtMs;
}

/** What the record has the caller say. */
async function record(server: TestServer, { call }: Talk): Promise<readonly string[]> {
  await call.hangUp();
  const [ended] = await server.endedCalls();
  const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
  const entries = body.transcript as readonly { readonly role: string; readonly text: string }[];
  return entries.filter(({ role }) => role === 'user').map(({ text }) => text);
}

async function engineOf(server: TestServer, job: string): Promise<Record<string, unknown>> {
  const body = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as {
    readonly engines: readonly Record<string, unknown>[];
  };
  return body.engines.find((engine) => engine.job === job) ?? {};
}

/** Sound heard since an instant. */
function heardSince({ call }: Talk, sinceMs: number): Int16Array {
  const packets = call.line.heard.filter(({ atMs }) => atMs > sinceMs);
  return Int16Array.from(packets.flatMap(({ pcm }) => [...pcm]));
}

test('recognition and voice come from servers with the OpenAI interface', async () => {
  const speech = await speechServer();
  const server = await startOffhook({
    STT: 'openai',
    STT_URL: speech.address,
    STT_API_KEY: 'secret',
    TTS: 'openai',
    TTS_URL: `${speech.address}/v1`,
    TTS_API_KEY: 'secret',
  });
  const talk = await ring(server);
  for (const phrase of PHRASES) await say(talk, phrase);
  const said = await record(server, talk);
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();

  expect(said).toEqual(PHRASES);
  expect(speech.wordsHeard.length).toBeGreaterThanOrEqual(PHRASES.length);
  expect(speech.wordsHeard.at(-1)).toMatchObject({
    rateHz: 16_000,
    fields: { model: 'whisper-1', language: 'en', response_format: 'verbose_json' },
  });
  expect(speech.spoken.at(-1)).toMatchObject({ response_format: 'pcm', voice: 'af_heart' });
  expect(loudestAmplitude(heardSince(talk, 0), SERVER_VOICE_HZ)).toBeGreaterThan(
    TONE_AMPLITUDE_MIN,
  );
  expect([...speech.authorizations]).toEqual(['Bearer secret']);
  expect(await engineOf(server, 'stt')).toMatchObject({ engine: 'openai', state: 'ready' });
  expect(await engineOf(server, 'tts')).toMatchObject({ engine: 'openai', state: 'ready' });
  expect(metrics).toContain(`offhook_speech_server_up{job="stt",server="${speech.address}"} 1`);
  expect(metrics).toMatch(/offhook_speech_server_seconds_count\{.*job="tts".*\} [1-9]/);
});

test.each([
  'hang',
  'refuse',
  'garbage',
  'cut',
] as const satisfies readonly ServerFault[])('a server that begins to %s in mid-call costs no word: the local engines take over', async (fault) => {
  const speech = await speechServer();
  const server = await startOffhook({
    STT: 'openai',
    STT_URL: speech.address,
    TTS: 'openai',
    TTS_URL: speech.address,
    STT_TIMEOUT_MS: '1500',
    TTS_TIMEOUT_MS: '1500',
  });
  const talk = await ring(server);
  await say(talk, PHRASES[0]);
  speech.fault = fault;
  await say(talk, PHRASES[1]);
  const stt = await engineOf(server, 'stt');
  const tts = await engineOf(server, 'tts');
  const said = await record(server, talk);

  expect(said).toEqual(PHRASES);
  expect(stt).toMatchObject({ engine: 'whisper', state: 'fallback', isFallback: true });
  expect(stt.reason).toContain(speech.address);
  expect(tts).toMatchObject({ isFallback: true, replacement: { engine: 'openai' } });
});

test('a server that is killed in mid-call is replaced at once, and used again once it is back', async () => {
  const speech = await speechServer();
  const server = await startOffhook({ STT: 'openai', STT_URL: speech.address });
  const talk = await ring(server);
  const { port } = speech;
  await speech.stop();
  await say(talk, PHRASES[0]);
  const again = await speechServer(port);
  await expect
    .poll(async () => (await engineOf(server, 'stt')).engine, { timeout: 15_000 })
    .toBe('openai');
  await say(talk, PHRASES[1]);
  const said = await record(server, talk);

  expect(said).toEqual(PHRASES);
  expect(again.wordsHeard.length).toBeGreaterThan(0);
});

test('a server that is not there at the start is said, and calls go on', async () => {
  const server = await startOffhook({
    STT: 'openai',
    STT_URL: 'http://127.0.0.1:9',
    TTS: 'openai',
    TTS_URL: 'http://127.0.0.1:9',
  });
  const talk = await ring(server);
  await say(talk, PHRASES[0]);
  const said = await record(server, talk);

  expect(said).toEqual([PHRASES[0]]);
  expect(server.output).toContain('http://127.0.0.1:9');
  expect(await engineOf(server, 'stt')).toMatchObject({ state: 'fallback' });
});

test('two servers share the work, and one that is slow or gone costs no word', async () => {
  const [fast, slow] = [await speechServer(), await speechServer()];
  slow.fault = 'slow';
  const server = await startOffhook({
    STT: 'openai',
    STT_URL: `${fast.address},${slow.address}`,
  });
  const talk = await ring(server);
  await say(talk, PHRASES[0]);
  await say(talk, PHRASES[1]);
  const [usesFast, usesSlow] = [fast.wordsHeard.length, slow.wordsHeard.length];
  await fast.stop();
  await say(talk, PHRASES[0]);
  const said = await record(server, talk);

  expect(said).toEqual([...PHRASES, PHRASES[0]]);
  expect(usesFast).toBeGreaterThan(0);
  expect(usesSlow).toBeGreaterThan(0);
  expect(await engineOf(server, 'stt')).toMatchObject({ engine: 'openai', state: 'ready' });
});

test('a caller who interrupts ends the request for the voice', async () => {
  const speech = await speechServer();
  const server = await startOffhook({ TTS: 'openai', TTS_URL: speech.address });
  const talk = await ring(server);
  // The sentence is still being sent when the caller interrupts.
  speech.speedup = 1.2;
  const { lastVoicedAtMs } = await talk.call.line.speak(phraseSaying(PHRASES[0]));
  await talk.listener.isSpeaking(lastVoicedAtMs, 300, 10_000);
  const before = speech.abandoned;
  await talk.call.line.speak(phraseSaying(PHRASES[1]));

  await expect.poll(() => speech.abandoned, { timeout: 10_000 }).toBeGreaterThan(before);
});

test.each([
  false,
  true,
])('recognition and voice come from servers with the Wyoming protocol (in pieces: %s)', async (isStreaming) => {
  const speech = await wyomingServer();
  speech.isStreaming = isStreaming;
  const server = await startOffhook({
    ...{ STT: 'wyoming', STT_URL: speech.address, STT_MODEL: 'tiny' },
    ...{ TTS: 'wyoming', TTS_URL: speech.address },
  });
  const { body } = await server.api('GET', '/api/voices?language=de&limit=1');
  const talk = await ring(server);
  for (const phrase of PHRASES) await say(talk, phrase);
  const said = await record(server, talk);

  expect(said).toEqual(PHRASES);
  expect(speech.wordsHeard.at(-1)).toMatchObject({ name: 'tiny', language: 'en' });
  expect(speech.spoken.at(-1)).toMatchObject({ voice: { name: 'en_US-amy-medium' } });
  expect(loudestAmplitude(heardSince(talk, 0), SERVER_VOICE_HZ)).toBeGreaterThan(
    TONE_AMPLITUDE_MIN,
  );
  expect(await engineOf(server, 'stt')).toMatchObject({ engine: 'wyoming', state: 'ready' });
  expect(await engineOf(server, 'tts')).toMatchObject({ engine: 'wyoming', state: 'ready' });
  expect(body.data).toMatchObject([{ engine: 'wyoming', isFallback: false }]);
});

test.each([
  'hang',
  'refuse',
  'garbage',
  'cut',
] as const satisfies readonly WyomingFault[])('a Wyoming server that begins to %s in mid-call costs no word: the local engines take over', async (fault) => {
  const speech = await wyomingServer();
  const server = await startOffhook({
    ...{ STT: 'wyoming', STT_URL: speech.address, STT_TIMEOUT_MS: '1500' },
    ...{ TTS: 'wyoming', TTS_URL: speech.address, TTS_TIMEOUT_MS: '1500' },
  });
  const talk = await ring(server);
  await say(talk, PHRASES[0]);
  speech.fault = fault;
  await say(talk, PHRASES[1]);
  const stt = await engineOf(server, 'stt');
  const tts = await engineOf(server, 'tts');
  const said = await record(server, talk);

  expect(said).toEqual(PHRASES);
  expect(stt).toMatchObject({ engine: 'whisper', state: 'fallback', isFallback: true });
  expect(stt.reason).toContain(speech.address);
  expect(tts).toMatchObject({ isFallback: true, replacement: { engine: 'wyoming' } });
});

test('a Wyoming recogniser that never ends its transcript costs no word', async () => {
  const speech = await wyomingServer();
  const server = await startOffhook({
    ...{ STT: 'wyoming', STT_URL: speech.address, STT_TIMEOUT_MS: '1500' },
  });
  const talk = await ring(server);
  speech.fault = 'endless';
  await say(talk, PHRASES[0]);
  const said = await record(server, talk);

  expect(said).toEqual([PHRASES[0]]);
});

test('an agent can name a voice of a Wyoming server as soon as that is there, and speaks with it', async () => {
  const gone = await wyomingServer();
  const { address, port } = gone;
  await gone.stop();
  const server = await startOffhook({ TTS: 'wyoming', TTS_URL: address });
  const { body } = await server.api('GET', '/api/agents');
  const [agent] = body.data as readonly { readonly id: string }[];
  const voice = 'en_US-libritts-high:p3922';
  const change = () => server.api('PATCH', `/api/agents/${agent?.id}`, { voice });
  const before = await change();
  const speech = await wyomingServer(port);
  const speakers = [{ name: 'p3922' }];
  speech.voices = [{ name: 'en_US-libritts-high', languages: ['en_US'], speakers }];
  const listed = async () => {
    const { body: page } = await server.api('GET', '/api/voices?language=en&limit=100');
    const voices = page.data as readonly { readonly id: string; readonly engine: string }[];
    return voices.find(({ id }) => id === voice)?.engine;
  };
  await expect.poll(listed, { timeout: 20_000 }).toBe('wyoming');
  const after = await change();
  await ring(server);

  expect([before.status, after.status]).toEqual([400, 200]);
  expect(speech.spoken.at(-1)).toMatchObject({
    voice: { name: 'en_US-libritts-high', speaker: 'p3922' },
  });
});
