/** Answers of speech servers, of any form: what is read of them stays within its bounds, and nothing but a plain fault is thrown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recognitionOf } from '../../src/speech/stt/openai/transcription.ts';
import { LinePcm } from '../../src/speech/tts/network/line-pcm.ts';
import { serverVoice, usableVoices } from '../../src/speech/tts/network/server-voices.ts';

const ASKED = { language: 'en', audioMs: 2000 };

/** JSON that has the interface's fields, of any type. */
const anything = fc.oneof(fc.jsonValue(), fc.double(), fc.string(), fc.constant(undefined));
const segment = fc.record(
  {
    ...{ text: anything, start: anything, end: anything },
    ...{ avg_logprob: anything, no_speech_prob: anything },
  },
  { requiredKeys: [] },
);
const word = fc.record(
  { word: anything, start: anything, end: anything, probability: anything },
  { requiredKeys: [] },
);
const transcript = fc.record(
  {
    text: fc.oneof(fc.string(), anything),
    language: anything,
    segments: fc.oneof(fc.array(segment), anything),
    words: fc.oneof(fc.array(word), anything),
  },
  { requiredKeys: [] },
);

const isShare = (value: number) => value >= 0 && value <= 1;

test('a transcript of any form is read within its bounds, or refused in plain words', () => {
  fc.assert(
    fc.property(fc.oneof(transcript, anything), (answer) => {
      try {
        const { text, words, confidence, noSpeechProbability } = recognitionOf(answer, ASKED);
        expect(text).toBe(text.trim());
        expect(words.map((one) => one.confidence).every(isShare)).toBe(true);
        expect([confidence, noSpeechProbability].every(isShare)).toBe(true);
      } catch (error) {
        expect(String(error)).toBe('Error: it answered without a transcript');
      }
    }),
    { numRuns: 2000 },
  );
});

test('long lists of a hostile server take no time', () => {
  const words = Array.from({ length: 50_000 }, () => ({ word: 'a', start: 9e9, end: 9e9 }));
  const segments = Array.from({ length: 50_000 }, () => ({ text: 'a', start: 0, end: 1 }));
  const startMs = performance.now();

  const { text } = recognitionOf({ text: 'a', words, segments }, ASKED);

  expect(text).toBe('a');
  expect(performance.now() - startMs).toBeLessThan(1000);
});

/** Bytes that begin as audio files do, or as nothing known. */
const audioBytes = fc
  .tuple(
    fc.constantFrom('', 'RIFF', 'RIFF\0\0\0\0WAVEfmt ', 'ID3', 'OggS', '{"error"', 'data'),
    fc.uint8Array({ maxLength: 6000 }),
  )
  .map(([mark, rest]) => Buffer.concat([Buffer.from(mark, 'latin1'), rest]));

/** The sound, or the fault in plain words. */
function soundOf(pieces: readonly Uint8Array[]): Int16Array | string {
  const pcm = new LinePcm({ rateHz: 24_000, channels: 1 });
  try {
    const sounds = [...pieces.map((piece) => pcm.push(piece)), pcm.flush()];
    return Int16Array.from(sounds.flatMap((sound) => [...sound]));
  } catch (error) {
    return String(error);
  }
}

test('audio of any bytes becomes sound or a plain fault, however it is cut into pieces', () => {
  fc.assert(
    fc.property(audioBytes, fc.integer({ min: 1, max: 700 }), (bytes, size) => {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );

      const whole = soundOf([bytes]);

      expect(soundOf(pieces)).toEqual(whole);
      if (typeof whole === 'string') expect(whole).toMatch(/^Error: it sent /);
    }),
    { numRuns: 1000 },
  );
});

test('a voice of any name has a language of letters, or none', () => {
  const told = fc.record({
    name: fc.string({ maxLength: 200 }),
    language: fc.option(fc.string(), { nil: undefined }),
    gender: fc.option(fc.string(), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(told, { maxLength: 20 }), (list) => {
      const voices = usableVoices(list.map(serverVoice));

      for (const { name, locale } of voices) {
        expect(name.length).toBeLessThanOrEqual(100);
        expect(locale).toMatch(/^([a-z]{2,3}(-[A-Z0-9]{2,3})?)?$/);
      }
    }),
    { numRuns: 1000 },
  );
});
