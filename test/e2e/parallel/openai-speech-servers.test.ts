/** Calls through RTP while recognition and voices are servers with the OpenAI interface, and while those fail. */
import { afterEach, expect, test } from 'vitest';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import type { ServerFault } from '../../support/speech/openai-speech-server.ts';
import { SERVER_VOICE_HZ } from '../../support/speech/served-speech.ts';
import {
  engineOf,
  expectLocalEnginesTakeOver,
  heardSince,
  PHRASES,
  record,
  ring,
  say,
  speechServer,
  startOffhook,
  stopAll,
  TONE_AMPLITUDE_MIN,
} from '../../support/speech/speech-server-calls.ts';
import { loudestAmplitude } from '../../support/speech/tone.ts';

afterEach(stopAll);

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
  await expectLocalEnginesTakeOver(server, {
    engine: 'openai',
    address: speech.address,
    fail: () => {
      speech.fault = fault;
    },
  });
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
  expect(await engineOf(server, 'stt')).toMatchObject({ state: 'degraded' });
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
  // Long, so that it is still being sent when the caller interrupts, on a busy machine too.
  const reply = 'Thank you, that was well said. '.repeat(12).trim();
  const server = await startOffhook({ TTS: 'openai', TTS_URL: speech.address }, reply);
  const talk = await ring(server);
  speech.speedup = 1.2;
  const { lastVoicedAtMs } = await talk.call.line.speak(phraseSaying(PHRASES[0]));
  expect(await talk.listener.isSpeaking(lastVoicedAtMs, 300, 10_000)).toBe(true);
  const before = speech.abandoned;
  await talk.call.line.speak(phraseSaying(PHRASES[1]));

  await expect.poll(() => speech.abandoned, { timeout: 10_000 }).toBeGreaterThan(before);
});
