/** Whisper on our own tiny model: words, languages, confidence, abort, silence. */
import { afterAll, expect, test } from 'vitest';
import type { Recognition } from '../../src/speech/stt/pool/recognizer.ts';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { phraseSaying, readPhrase, SPOKEN_PHRASES, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const recognizer = await openRecognizer(TINY_WHISPER_DIR);

afterAll(() => recognizer.close());

const never = new AbortController().signal;

function heardIn(pcm: Int16Array, language: string): Promise<Recognition> {
  const utterance = recognizer.open({ language });
  utterance.push(pcm);
  return utterance.transcribe({ isFinal: true, signal: never });
}

test.each(SPOKEN_PHRASES)('openRecognizer understands "$text"', async ({
  file,
  text,
  language,
}) => {
  const heard = await heardIn(readPhrase(file), language);

  expect(heard.text).toBe(text);
  expect(heard.words.map((word) => word.text).join(' ')).toBe(text);
  expect(heard.confidence).toBeGreaterThan(0.9);
  expect(heard.noSpeechProbability).toBeLessThan(0.1);
});

test.each(SPOKEN_PHRASES)('openRecognizer tells by itself that "$text" is $language', async ({
  file,
  text,
  language,
}) => {
  const heard = await heardIn(readPhrase(file), 'auto');

  expect(heard.language).toBe(language);
  expect(heard.text).toBe(text);
});

test('openRecognizer takes a region after the language', async () => {
  const heard = await heardIn(phraseSaying('Quiero una cita.'), 'es-MX');

  expect(heard.text).toBe('Quiero una cita.');
  expect(heard.language).toBe('es');
});

test.each([
  { what: 'silence', pcm: new Int16Array(16_000) },
  { what: 'a tone', pcm: Int16Array.from({ length: 16_000 }, (_, i) => 3000 * Math.sin(i / 3)) },
])('openRecognizer hears no words in $what', async ({ pcm }) => {
  const heard = await heardIn(pcm, 'en');

  expect(heard.text).toBe('');
  expect(heard.words).toEqual([]);
});

test('openRecognizer says that silence is likely to hold no speech', async () => {
  const heard = await heardIn(new Int16Array(16_000), 'en');

  expect(heard.noSpeechProbability).toBeGreaterThan(0.6);
});

test('openRecognizer does not ask the model about less than 100 ms', async () => {
  const heard = await heardIn(new Int16Array(700), 'en');

  expect(heard).toMatchObject({ text: '', noSpeechProbability: 1, audioMs: 87.5 });
});

test('openRecognizer hears the same in packets of 20 ms, asked in between', async () => {
  const pcm = phraseSaying('What are your opening hours?');
  const utterance = recognizer.open({ language: 'en' });

  for (let start = 0; start < pcm.length; start += 160) {
    utterance.push(pcm.subarray(start, start + 160));
    if (start === 9600) await utterance.transcribe({ isFinal: false, signal: never });
  }

  const heard = await utterance.transcribe({ isFinal: true, signal: never });
  expect(heard.text).toBe('What are your opening hours?');
});

test('openRecognizer hears what was pushed before the request, and nothing after it', async () => {
  const utterance = recognizer.open({ language: 'en' });
  utterance.push(phraseSaying('Goodbye.'));

  const asked = utterance.transcribe({ isFinal: true, signal: never });
  utterance.push(phraseSaying('Yes, please.'));

  expect((await asked).text).toBe('Goodbye.');
});

test('openRecognizer stops at the next step when aborted', async () => {
  const abort = new AbortController();
  const utterance = recognizer.open({ language: 'en' });
  utterance.push(phraseSaying('My number is two seven four nine.'));

  const asked = utterance.transcribe({ isFinal: true, signal: abort.signal });
  abort.abort(new Error('the caller spoke on'));

  await expect(asked).rejects.toThrow('the caller spoke on');
});
