/** What the phrase cache keeps, and what it forgets. */
import { expect, test } from 'vitest';
import { spokenSynthesizer } from '../../src/speech/text-normalization/spoken-form.ts';
import { SynthesisError, type WordEnds } from '../../src/speech/tts/pool/synthesizer.ts';
import { PhraseCache } from '../../src/speech/tts/voices/phrase-cache.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';

const GREETING = { text: 'Hello', voice: 'en-US-JennyNeural', language: 'en-US' };

function cacheOf(sizeBytesMax = 1_000_000) {
  const synthesizer = new ScriptedSynthesizer();
  return { synthesizer, cache: new PhraseCache({ synthesizer, sizeBytesMax }) };
}

async function hear(audio: AsyncIterable<Int16Array>): Promise<number[]> {
  const samples: number[] = [];
  for await (const chunk of audio) {
    samples.push(...chunk);
  }
  return samples;
}

test('PhraseCache starts its engine once, and again once it was stopped', async () => {
  const { synthesizer, cache } = cacheOf();

  await Promise.all([cache.start(), cache.start()]);
  const startsAtFirst = synthesizer.starts;
  await cache.stop();
  await cache.start();

  expect([startsAtFirst, synthesizer.starts]).toEqual([1, 2]);
});

test('PhraseCache says a prepared phrase without asking its engine again', async () => {
  const { synthesizer, cache } = cacheOf();
  await cache.prepare(GREETING);

  const heard = await hear(cache.speak(GREETING));

  expect(synthesizer.asked).toHaveLength(1);
  expect(heard).toEqual(await hear(new ScriptedSynthesizer().speak(GREETING)));
});

test('PhraseCache asks its engine once for a phrase that is prepared twice at a time', async () => {
  const { synthesizer, cache } = cacheOf();

  await Promise.all([cache.prepare(GREETING), cache.prepare(GREETING)]);

  expect(synthesizer.asked).toHaveLength(1);
});

test('PhraseCache keeps what is said for the second time, not what is said once', async () => {
  const { synthesizer, cache } = cacheOf();

  await hear(cache.speak(GREETING));
  const sizeAfterOnceBytes = cache.sizeBytes;
  await hear(cache.speak(GREETING));
  await hear(cache.speak(GREETING));

  expect(sizeAfterOnceBytes).toBe(0);
  expect(cache.sizeBytes).toBe(5 * 80 * 2);
  expect(synthesizer.asked).toHaveLength(2);
});

test.each([
  ['text', { ...GREETING, text: 'Hallo' }],
  ['voice', { ...GREETING, voice: 'en-US-GuyNeural' }],
  ['language', { ...GREETING, language: 'de-DE' }],
])('PhraseCache does not take one %s for another', async (_, other) => {
  const { synthesizer, cache } = cacheOf();
  await cache.prepare(GREETING);

  await hear(cache.speak(other));

  expect(synthesizer.asked).toHaveLength(2);
});

test('PhraseCache stays within its size; the phrase unused for longest goes', async () => {
  const { synthesizer, cache } = cacheOf(2 * 5 * 80 * 2);
  const [first, second, third] = ['first', 'other', 'third'].map((text) => ({ ...GREETING, text }));
  await cache.prepare(first ?? GREETING);
  await cache.prepare(second ?? GREETING);
  await hear(cache.speak(first ?? GREETING));
  await cache.prepare(third ?? GREETING);
  synthesizer.asked.length = 0;

  await hear(cache.speak(first ?? GREETING));
  await hear(cache.speak(second ?? GREETING));

  expect(cache.sizeBytes).toBe(2 * 5 * 80 * 2);
  expect(synthesizer.asked.map(({ text }) => text)).toEqual(['other']);
});

test('PhraseCache does not keep a phrase that is larger than the cache', async () => {
  const { cache } = cacheOf(100);

  await cache.prepare(GREETING);

  expect(cache.sizeBytes).toBe(0);
});

test('PhraseCache does not keep words that have no sound', async () => {
  const { synthesizer, cache } = cacheOf();
  const silent = { ...GREETING, text: '' };

  await cache.prepare(silent);
  await cache.prepare(silent);

  expect(synthesizer.asked).toHaveLength(2);
});

test('PhraseCache does not keep a phrase that was broken off', async () => {
  const { synthesizer, cache } = cacheOf();
  await hear(cache.speak(GREETING));

  for await (const _ of cache.speak(GREETING)) {
    break;
  }

  expect(cache.sizeBytes).toBe(0);
  expect(synthesizer.finished).toBe(1);
});

test('PhraseCache hands out copies, so that a listener cannot spoil a phrase', async () => {
  const { cache } = cacheOf();
  await cache.prepare(GREETING);
  for await (const chunk of cache.speak(GREETING)) {
    chunk.fill(-1);
  }

  expect(await hear(cache.speak(GREETING))).not.toContain(-1);
});

test('PhraseCache prepares again after its engine failed', async () => {
  const { synthesizer, cache } = cacheOf();
  const broken = { ...GREETING, text: 'fail' };

  await expect(cache.prepare(broken)).rejects.toThrow(SynthesisError);
  await expect(cache.prepare(broken)).rejects.toThrow(SynthesisError);

  expect(synthesizer.asked).toHaveLength(2);
});

test('PhraseCache throws the reason of a signal that was aborted before', async () => {
  const { cache } = cacheOf();
  await cache.prepare(GREETING);
  const signal = AbortSignal.abort(new Error('the caller spoke'));

  await expect(hear(cache.speak({ ...GREETING, signal }))).rejects.toThrow('the caller spoke');
});

test('PhraseCache starts, stops and reports as its engine does', async () => {
  const { synthesizer, cache } = cacheOf();

  await cache.start();
  const wasRunning = synthesizer.isRunning;
  await cache.stop();
  await cache.stop();

  expect([wasRunning, synthesizer.isRunning]).toEqual([true, false]);
  expect(cache.report()).toEqual(synthesizer.report());
});

test.each([
  ['text', { text: 'Hullo' }],
  ['voice', { voice: 'en-US-GuyNeural' }],
  ['language', { language: 'en-GB' }],
  ['pronunciations', { pronunciations: [{ written: 'Hello', spoken: 'hullo' }] }],
])('PhraseCache keeps another phrase where the %s differs', async (_case, change) => {
  const { synthesizer, cache } = cacheOf();
  await cache.prepare(GREETING);

  await cache.prepare({ ...GREETING, ...change });

  expect(synthesizer.asked).toHaveLength(2);
});

test('PhraseCache tells when the words of a kept phrase end, as its engine did', async () => {
  const engine = new ScriptedSynthesizer();
  const cache = new PhraseCache({
    synthesizer: spokenSynthesizer(engine),
    sizeBytesMax: 1_000_000,
  });
  const request = { ...GREETING, text: 'at 5 now' };
  await cache.prepare(request);
  const told: WordEnds[] = [];

  await hear(cache.speak({ ...request, onWords: (ends) => told.push(ends) }));

  expect(engine.asked.map(({ text }) => text)).toEqual(['at five now']);
  expect(told).toEqual([[2 / 11, 7 / 11, 1]]);
});
