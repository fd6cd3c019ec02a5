/** Calls through RTP while recognition and voices are servers with the Wyoming protocol, and while those fail. */
import { afterEach, expect, test } from 'vitest';
import { SERVER_VOICE_HZ } from '../../support/speech/served-speech.ts';
import {
  engineOf,
  expectLocalEnginesTakeOver,
  heardSince,
  PHRASES,
  record,
  ring,
  say,
  startOffhook,
  stopAll,
  TONE_AMPLITUDE_MIN,
  wyomingServer,
} from '../../support/speech/speech-server-calls.ts';
import { loudestAmplitude } from '../../support/speech/tone.ts';
import type { WyomingFault } from '../../support/speech/wyoming-speech-server.ts';

afterEach(stopAll);

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
  await expectLocalEnginesTakeOver(server, {
    engine: 'wyoming',
    address: speech.address,
    fail: () => {
      speech.fault = fault;
    },
  });
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
