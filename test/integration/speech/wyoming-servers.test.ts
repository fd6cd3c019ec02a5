/** Recognition and voices over the Wyoming protocol, against a server written from its description. */
import { afterEach, expect, test } from 'vitest';
import { openRecognitionServer } from '../../../src/speech/stt/wyoming/wyoming-recognition.ts';
import { wyomingVoices } from '../../../src/speech/tts/wyoming/wyoming-voices.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
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

const PHRASE = 'I would like to book an appointment.';
const TEXT = 'Good morning. How can I help you?';

async function startServer(): Promise<WyomingSpeechServer> {
  const server = await WyomingSpeechServer.start();
  undo.push(() => server.stop());
  return server;
}

/** Longer than any answer of the double takes. */
const soon = () => AbortSignal.timeout(2500);

const never = new AbortController().signal;

async function spokenBy(sound: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const pieces: number[] = [];
  for await (const pcm of sound) pieces.push(...pcm);
  return Int16Array.from(pieces);
}

test.each([
  false,
  true,
])('a Wyoming server recognises an utterance (its transcript in pieces: %s)', async (isStreaming) => {
  const server = await startServer();
  server.isStreaming = isStreaming;
  const recognizer = openRecognitionServer(server.address, { model: 'tiny' });
  const pcm = phraseSaying(PHRASE);

  await recognizer.probe(never);
  const recognition = await recognizer.recognize({ pcm, language: 'en-US', signal: never });

  expect(recognition).toMatchObject({ text: PHRASE, language: 'en', confidence: 1 });
  expect(recognition.words.map(({ text }) => text)).toEqual(PHRASE.split(' '));
  expect(server.wordsHeard).toEqual([
    { name: 'tiny', language: 'en', audioMs: pcm.length / 8, isSilent: false },
  ]);
  expect(server.exchanges.at(-1)?.filter((type) => type !== 'audio-chunk')).toEqual([
    'transcribe',
    'audio-start',
    'audio-stop',
  ]);
});

test('a Wyoming server is asked in its own spelling of a language, and not for one that it lacks', async () => {
  const server = await startServer();
  server.languages = ['en_US', 'pt_PT', 'pt_BR'];
  const recognizer = openRecognitionServer(server.address, {});

  await recognizer.probe(never);
  await recognizer.recognize({ pcm: phraseSaying(PHRASE), language: 'pt-BR', signal: never });

  expect(server.heard.map(({ language }) => language)).toEqual(['en_US', 'pt_BR']);
  expect(['en-GB', 'pt', 'de-DE'].map((one) => recognizer.hears?.(one))).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  false,
  true,
])('a Wyoming server speaks with a voice that it lists (text in pieces: %s)', async (isStreaming) => {
  const server = await startServer();
  server.isStreaming = isStreaming;
  server.voices = [{ name: 'libritts', languages: ['en_US', 'en_GB'], speakers: [{ name: 'p1' }] }];
  const voices = wyomingVoices(server.address);

  await voices.probe(never);
  const sound = await spokenBy(voices.speak({ text: TEXT, voice: 'libritts:p1', signal: never }));

  expect(voices.voices).toEqual([
    { name: 'libritts', locale: 'en-US' },
    { name: 'libritts', locale: 'en-GB' },
    { name: 'libritts:p1', locale: 'en-US', speaker: 'p1' },
  ]);
  expect(server.spoken).toEqual([
    { text: 'Hello.' },
    { text: TEXT, voice: { name: 'libritts', speaker: 'p1' } },
  ]);
  expect(sound.length / 8).toBeCloseTo(TEXT.length * 60, -2);
  expect(loudestAmplitude(sound, SERVER_VOICE_HZ)).toBeGreaterThan(8000);
});

test.each<[WyomingFault, RegExp]>([
  ['hang', /timeout/],
  ['refuse', /^it answered: CUDA out of memory$/],
  ['garbage', /^it does not speak the Wyoming protocol$/],
  ['cut', /^it closed the connection without a transcript$/],
  ['endless', /timeout/],
])('recognition by a server that begins to %s fails in plain words', async (fault, expected) => {
  const server = await startServer();
  const recognizer = openRecognitionServer(server.address, {});
  server.fault = fault;

  const asked = recognizer.recognize({ pcm: phraseSaying(PHRASE), language: 'en', signal: soon() });

  await expect(asked).rejects.toThrow(expected);
});

test.each<[WyomingFault, RegExp]>([
  ['hang', /timeout/],
  ['refuse', /^it answered: CUDA out of memory$/],
  ['garbage', /^it does not speak the Wyoming protocol$/],
  ['cut', /^its audio broke off$/],
  ['endless', /timeout/],
])('speech by a server that begins to %s fails in plain words', async (fault, expected) => {
  const server = await startServer();
  const voices = wyomingVoices(server.address);
  server.fault = fault;

  const asked = spokenBy(voices.speak({ text: TEXT, voice: undefined, signal: soon() }));

  await expect(asked).rejects.toThrow(expected);
});

test('a server that does one job alone is not taken for the other, and one that is gone is said', async () => {
  const server = await startServer();
  const [recognizer, voices] = [
    openRecognitionServer(server.address, {}),
    wyomingVoices(server.address),
  ];
  server.offers = [];

  await expect(recognizer.probe(never)).rejects.toThrow('it offers no speech recognition');
  await expect(voices.probe(never)).rejects.toThrow('it offers no voices');
  await server.stop();
  await expect(recognizer.probe(never)).rejects.toThrow('nothing listens there');
});

test('leaving the sound closes the connection', async () => {
  const server = await startServer();
  server.speedup = 1;
  const voices = wyomingVoices(server.address);

  for await (const _ of voices.speak({ text: TEXT, voice: undefined, signal: never })) break;

  await expect.poll(() => server.abandoned).toBe(1);
});
