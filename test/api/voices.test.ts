/** `/api/voices`: the list, and previews. */
import { expect, test } from 'vitest';
import { voiceCatalogue } from '../../src/call/voice-catalogue.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { readWavHeader } from '../../src/media/recording/wav-file.ts';
import type { ServerVoice } from '../../src/speech/tts/network/voice-server.ts';
import type { Synthesizer } from '../../src/speech/tts/pool/synthesizer.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';
import { openTestApi } from '../support/api/test-api.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';

const book = await loadVoiceBook();

async function openWithVoices(
  synthesizer: Synthesizer = new ScriptedSynthesizer(),
  offered: () => readonly ServerVoice[] = () => [],
) {
  return openTestApi({
    voices: voiceCatalogue({ book, synthesizer, log: silentLogger, offered, previewsMax: 1 }),
  });
}

const PREVIEW = '/api/voices/en-US-JennyNeural/preview';

test('GET /api/voices lists voices by id, a page at a time, with who speaks them', async () => {
  const api = await openWithVoices();

  const { status, body } = await api.json('GET', '/api/voices?language=EN&limit=2&offset=1');

  const ids = body.data.map(({ id }) => id);
  expect([status, body.total > 50, ids.length]).toEqual([200, true, 2]);
  expect([...ids].sort()).toEqual(ids);
  expect(body.data[0]).toEqual({
    id: 'en-AU-CarlyNeural',
    locale: 'en-AU',
    language: 'en',
    name: 'Carly',
    gender: 'female',
    engine: 'scripted',
    isFallback: true,
    sampleUrl: 'https://voice.example/api/voices/en-AU-CarlyNeural/preview',
  });
});

test.each([
  ['locale=en-gb', 15, 'en-GB-AbbiNeural'],
  ['language=th', 0, undefined],
  ['locale=de-AT&language=de', 2, 'de-AT-IngridNeural'],
])('GET /api/voices?%s finds %i voices', async (query, total, first) => {
  const api = await openWithVoices();

  const { body } = await api.json('GET', `/api/voices?${query}`);

  expect([body.total, body.data[0]?.id]).toEqual([total, first]);
});

test.each([
  'locale=en',
  'language=english',
  'limit=0',
  'name=Jenny',
])('GET /api/voices?%s is refused', async (query) => {
  const api = await openWithVoices();

  const { status, body } = await api.json('GET', `/api/voices?${query}`);

  expect([status, body.error.details[0]?.path]).toEqual([400, query.split('=')[0]]);
});

test('GET /api/voices/{voiceId}/preview is a WAV of what was asked for, at 8 kHz', async () => {
  const synthesizer = new ScriptedSynthesizer();
  const api = await openWithVoices(synthesizer);

  const response = await api.request('GET', `${PREVIEW}?text=Hi`);

  const wav = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('Content-Type')).toBe('audio/wav');
  expect(readWavHeader(wav)).toEqual({ channels: 1, rateHz: 8000, dataBytes: 320 });
  expect(wav.readInt16LE(44)).toBe('H'.charCodeAt(0));
  expect(synthesizer.asked[0]).toMatchObject({ voice: 'en-US-JennyNeural', language: 'en-US' });
});

test('GET /api/voices/{voiceId}/preview says a sentence of the voice’s language unless told what', async () => {
  const synthesizer = new ScriptedSynthesizer();
  const api = await openWithVoices(synthesizer);

  await api.request('GET', '/api/voices/de-DE-KatjaNeural/preview');

  expect(synthesizer.asked[0]?.text).toBe('Guten Tag. Wie kann ich Ihnen helfen?');
});

test.each([
  ['an unknown voice', '/api/voices/en-US-UnknownNeural/preview', 404, 'VOICE_NOT_FOUND'],
  ['a text too long', `${PREVIEW}?text=${'a'.repeat(301)}`, 400, 'VALIDATION_ERROR'],
  ['nothing to say', `${PREVIEW}?text=...`, 400, 'VALIDATION_ERROR'],
  ['a voice that fails', `${PREVIEW}?text=fail`, 503, 'SERVICE_UNAVAILABLE'],
])('GET /api/voices/{voiceId}/preview answers to %s', async (_case, path, status, code) => {
  const api = await openWithVoices();

  const answer = await api.json('GET', path);

  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
});

test('GET /api/voices/{voiceId}/preview answers 503 with Retry-After while too many are made', async () => {
  const hold = Promise.withResolvers<void>();
  const slow = new ScriptedSynthesizer();
  const speak = slow.speak.bind(slow);
  slow.speak = async function* (request) {
    await hold.promise;
    yield* speak(request);
  };
  const api = await openWithVoices(slow);

  const first = api.request('GET', PREVIEW);
  const second = await api.request('GET', PREVIEW);
  hold.resolve();

  expect([second.status, second.headers.get('Retry-After')]).toEqual([503, '1']);
  expect((await first).status).toBe(200);
  expect((await api.request('GET', PREVIEW)).status).toBe(200);
});

test('the catalogue speaks the languages of its voices, and those that only espeak-ng has', () => {
  const synthesizer = new ScriptedSynthesizer();
  const voices = voiceCatalogue({ book, synthesizer, log: silentLogger });

  expect(voices.languages()).toEqual(expect.arrayContaining(['de', 'en', 'nb', 'sw']));
  expect(voices.languages()).not.toContain('xx');
});

/** As servers tell them: one that our book has as well, one without anything, one that no agent could name. */
const OFFERED: readonly ServerVoice[] = [
  { name: 'zz_ZZ-amy-medium', locale: 'th', gender: 'female' },
  { name: 'alloy', locale: '' },
  { name: 'en-US-JennyNeural', locale: 'en-US' },
  { name: 'two words', locale: 'en-US' },
];

test('GET /api/voices lists voices of speech servers by their own names, as the servers tell them now', async () => {
  let offered: readonly ServerVoice[] = [];
  const api = await openWithVoices(undefined, () => offered);
  const { body: before } = await api.json('GET', '/api/voices');
  offered = OFFERED;

  const { body } = await api.json('GET', '/api/voices?limit=1');
  const { body: last } = await api.json('GET', `/api/voices?offset=${body.total - 1}`);
  const { body: thai } = await api.json('GET', '/api/voices?language=th');

  expect(body.total - before.total).toBe(2);
  expect(body.data[0]).toMatchObject({
    id: 'alloy',
    locale: 'und',
    language: 'und',
    gender: 'unknown',
  });
  expect(last.data).toEqual(thai.data);
  expect(last.data[0]).toEqual({
    id: 'zz_ZZ-amy-medium',
    locale: 'th',
    language: 'th',
    name: 'zz_ZZ-amy-medium',
    gender: 'female',
    engine: 'scripted',
    isFallback: true,
    sampleUrl: 'https://voice.example/api/voices/zz_ZZ-amy-medium/preview',
  });
});

test('an agent can have the voice of a speech server, and a language that it alone speaks; a wrong name gets the nearest', async () => {
  const synthesizer = new ScriptedSynthesizer();
  const api = await openWithVoices(synthesizer, () => OFFERED);
  const agent = { name: 'A', greeting: 'Hello.', systemPrompt: 'Be kind.', language: 'th-TH' };

  const made = await api.json('POST', '/api/agents', {
    body: { ...agent, voice: 'zz_ZZ-amy-medium' },
  });
  const wrong = await api.json('POST', '/api/agents', {
    body: { ...agent, voice: 'zz_ZZ-any-medium' },
  });
  const preview = await api.request('GET', '/api/voices/alloy/preview');

  expect(made.status).toBe(201);
  expect([wrong.status, wrong.body.error.details[0]?.path]).toEqual([400, 'voice']);
  expect(wrong.body.error.details[0]?.message).toContain('the nearest: zz_ZZ-amy-medium');
  expect(preview.status).toBe(200);
  expect(synthesizer.asked[0]).toMatchObject({ voice: 'alloy', language: 'en-US' });
});
