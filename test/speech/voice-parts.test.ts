/** The parts of a neural voice that need no process: phrases, ends of words, loudness, choice, and what stands in. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import {
  endsOfDurations,
  type NeuralVoice,
  VoiceLevel,
} from '../../src/speech/tts/neural/voice-model.ts';
import { LayeredSynthesizer } from '../../src/speech/tts/pool/choose-synthesizer.ts';
import type { SpeechRequest } from '../../src/speech/tts/pool/synthesizer.ts';
import { bareWords, chunksOf, phrasesOf } from '../../src/speech/tts/pool/voice-job.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';
import {
  chooseNeuralVoice,
  listedVoices,
  parseVoiceName,
  sampleText,
} from '../../src/speech/tts/voices/voice-ids.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';

const book = await loadVoiceBook();

/** Each word becomes itself; that is enough to see where it goes. */
function phrases(text: string, phonemesMax = 500) {
  const chunks = chunksOf(text);
  return phrasesOf(chunks, chunks.map(bareWords), phonemesMax);
}

describe('phrasesOf', () => {
  test('makes a phrase of each sentence, with its marks', () => {
    const found = phrases('Well, “yes”. Is that (so)?');

    expect(found.map(({ phonemes }) => phonemes)).toEqual(['Well, yes.', 'Is that so?']);
    expect(found.map(({ wordEnds }) => wordEnds)).toEqual([
      [5, 10],
      [3, 8, 11],
    ]);
  });

  test('has an end for every word, ascending, in phrases that are not too long', () => {
    const word = fc.constantFrom('a', 'bcd', 'efghij', 'k,', 'l.', '–', '"m"', '…', 'n;', '9:30');

    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 40 }),
        fc.integer({ min: 8, max: 60 }),
        (words, max) => {
          const found = phrases(words.join(' '), max);

          expect(found.flatMap(({ wordEnds }) => wordEnds)).toHaveLength(words.length);
          for (const { phonemes, wordEnds } of found) {
            expect([...phonemes].length).toBeLessThanOrEqual(max);
            expect([...wordEnds].sort((a, b) => a - b)).toEqual(wordEnds);
          }
        },
      ),
    );
  });
});

test('endsOfDurations adds up what each phoneme takes, after the silence at the start', () => {
  expect(endsOfDurations([2, 0, 4], [2, 2, 0, 4, 2])).toEqual([0.4, 0.4, 0.8]);
  expect(endsOfDurations([0, 0], [0, 0])).toEqual([0.5, 1]);
});

test('VoiceLevel brings a quiet voice and a loud one to -18 dBFS, by what they say and not by their pauses', () => {
  const tone = (peak: number) =>
    Float32Array.from({ length: 8000 }, (_, n) => (n < 4000 ? peak * Math.sin(n / 3) : 0));

  // The RMS of a tone is 3 dB below its peak.
  expect(new VoiceLevel().weigh(tone(32_768))).toBeCloseTo(-15, 0);
  expect(new VoiceLevel().weigh(tone(3276.8))).toBeCloseTo(5, 0);
  expect(new VoiceLevel().weigh(new Float32Array(8000))).toBe(0);
});

test('listedVoices are all of a known gender, in a language that espeak-ng speaks, with a sentence of their own', () => {
  const voices = listedVoices(book);
  const known = [...book.names.female, ...book.names.male];

  expect(voices.filter(({ name }) => !known.includes(name))).toEqual([]);
  expect(voices.filter(({ language }) => !(language in book.espeak.languages))).toEqual([]);
  expect(voices.filter(({ id }) => parseVoiceName(id) === null)).toEqual([]);
  expect(new Set(voices.map(({ id }) => id)).size).toBe(voices.length);
  const languages = [...new Set(voices.map(({ language }) => language))];
  expect(
    languages.filter((name) => name !== 'en' && sampleText(name) === sampleText('en')),
  ).toEqual([]);
});

test('The voice book maps ids that it lists', () => {
  const ids = listedVoices(book).map(({ id }) => id);
  const mapped = Object.values(book.neural).flatMap(({ voices }) => Object.keys(voices));

  expect(mapped.filter((id) => !ids.includes(id))).toEqual([]);
});

describe('chooseNeuralVoice', () => {
  const voice = (name: string, locale: string, gender?: 'female' | 'male'): NeuralVoice => ({
    ...{ name, locale, model: name, speaker: '', reads: 'en' },
    ...(gender !== undefined && { gender }),
  });
  const voices = [
    voice('af_heart', 'en-US', 'female'),
    voice('af_bella', 'en-US', 'female'),
    voice('am_michael', 'en-US', 'male'),
    voice('bf_emma', 'en-GB', 'female'),
    voice('ef_dora', 'es-ES', 'female'),
  ];
  const choose = (name: string, language: string) =>
    chooseNeuralVoice({ voice: name, language }, voices, {
      book: book.neural.kokoro?.voices ?? {},
      names: book.names,
    })?.name;

  test.each([
    ['the one that the book names', 'en-US-JennyNeural', 'en-US', 'af_heart'],
    ['one of the gender', 'en-US-EricNeural', 'en-US', 'am_michael'],
    ['one of the region', 'en-GB-OliviaNeural', 'en-GB', 'bf_emma'],
    ['one of the agent’s language', 'en-US-JennyNeural', 'es-MX', 'ef_dora'],
    ['none of another language', 'de-DE-KatjaNeural', 'de-DE', undefined],
    ['some voice for a name that is none', 'constructor', 'es-ES', 'ef_dora'],
  ])('takes %s', (_case, name, language, expected) => {
    expect(choose(name, language)).toBe(expected);
  });
});

describe('LayeredSynthesizer', () => {
  class Choosy extends ScriptedSynthesizer {
    canSpeak({ language }: { readonly language: string }): boolean {
      return language === 'en-US';
    }
  }
  class Unstartable extends Choosy {
    override start(): Promise<void> {
      return Promise.reject(new Error('Cannot load "x"'));
    }
  }
  const REQUEST: SpeechRequest = { text: 'Hi', voice: 'en-US-JennyNeural', language: 'en-US' };

  async function layer(best: ScriptedSynthesizer, mustStart = false) {
    const last = new ScriptedSynthesizer();
    const synthesizer = new LayeredSynthesizer({
      ...{ layers: [best, last], mustStart, logger: silentLogger },
    });
    const say = async (request: Partial<SpeechRequest> = {}) => {
      for await (const _ of synthesizer.speak({ ...REQUEST, ...request }));
      return [best.asked.length, last.asked.length];
    };
    return { synthesizer, last, say };
  }

  test('asks the best engine that has the language', async () => {
    const { synthesizer, say } = await layer(new Choosy());
    await synthesizer.start();

    expect(await say()).toEqual([1, 0]);
    expect(await say({ language: 'de-DE' })).toEqual([1, 1]);
  });

  test('goes on to the next one where an engine fails before it is heard', async () => {
    const { synthesizer, say } = await layer(new Choosy());
    await synthesizer.start();

    await expect(say({ text: 'fail' })).rejects.toThrow('asked not to');
    expect(await say()).toEqual([2, 1]);
  });

  test('does without an engine that does not start, and says why', async () => {
    const { synthesizer, say } = await layer(new Unstartable());
    await synthesizer.start();

    expect(synthesizer.report()).toMatchObject({ isFallback: true });
    expect(synthesizer.report().reason).toContain('Cannot load "x"; for tests');
    expect(await say()).toEqual([0, 1]);
  });

  test('does not start without an engine that was asked for by name', async () => {
    const { synthesizer, last } = await layer(new Unstartable(), true);

    await expect(synthesizer.start()).rejects.toThrow('Cannot load "x"');
    expect(last.isRunning).toBe(false);
  });
});
