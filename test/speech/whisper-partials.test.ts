/** Whisper's interim results; they cost the final result neither words nor time. */
import fc from 'fast-check';
import type { InferenceSession } from 'onnxruntime-node';
import { afterAll, expect, test } from 'vitest';
import { DecoderRun } from '../../src/speech/stt/decoding/decoder-run.ts';
import { decodeGreedily } from '../../src/speech/stt/decoding/greedy-decoder.ts';
import { LogMel } from '../../src/speech/stt/features/log-mel.ts';
import { Upsampler } from '../../src/speech/stt/features/resampler.ts';
import type { Recognition } from '../../src/speech/stt/pool/recognizer.ts';
import { loadWhisperModel } from '../../src/speech/stt/whisper/whisper-model.ts';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { phraseSaying, readPhrase, SPOKEN_PHRASES, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const recognizer = await openRecognizer(TINY_WHISPER_DIR);
const model = await loadWhisperModel(TINY_WHISPER_DIR, 1);
const { signal } = new AbortController();

afterAll(() => Promise.all([recognizer.close(), model.close()]));

/** Asks every 400 ms of the audio, and once more at its end. */
async function heardWhileSpoken(pcm: Int16Array, language: string): Promise<Recognition[]> {
  const utterance = recognizer.open({ language });
  const answers: Recognition[] = [];
  for (let start = 0; start < pcm.length; start += 3200) {
    utterance.push(pcm.subarray(start, start + 3200));
    const isFinal = start + 3200 >= pcm.length;
    answers.push(await utterance.transcribe({ isFinal, signal }));
  }
  return answers;
}

test.each(SPOKEN_PHRASES)('partials of "$text" change nothing about the end', async ({
  file,
  language,
}) => {
  const pcm = readPhrase(file);
  const atOnce = recognizer.open({ language });
  atOnce.push(pcm);

  const answers = await heardWhileSpoken(pcm, language);

  const expected = await atOnce.transcribe({ isFinal: true, signal });
  const last = answers.at(-1);
  expect(last?.text).toBe(expected.text);
  expect(last?.confidence).toBeCloseTo(expected.confidence, 3);
  expect(last?.words.map(({ startMs }) => startMs)).toEqual(
    expected.words.map(({ startMs }) => startMs),
  );
});

test('Recognition.agreedWords counts the words that two answers in a row began with', async () => {
  const pcm = phraseSaying('I would like to book an appointment.');

  const answers = await heardWhileSpoken(pcm, 'en');

  const agreed = answers.map(({ agreedWords = 0 }) => agreedWords);
  const counts = answers.map(({ words }) => words.length);
  expect(agreed[0]).toBe(0);
  expect(agreed.at(-1)).toBe(7);
  expect(agreed.every((count, index) => count <= (counts[index] ?? 0))).toBe(true);
  expect(new Set(agreed).size).toBeGreaterThan(3);
});

/** Decodes a phrase with a draft; tells the steps it took. */
async function decodeWith(draft: readonly number[]) {
  const mel = new LogMel({ melCount: 80 });
  mel.push(new Upsampler().push(phraseSaying('My name is Alice Smith.')));
  const encoded = await model.encoder.encode(mel.features(500));
  let steps = 0;
  const session = {
    inputNames: model.decoder.session.inputNames,
    run: (...args: Parameters<InferenceSession['run']>) => {
      steps += 1;
      return model.decoder.session.run(...args);
    },
  } as InferenceSession;
  const run = new DecoderRun({ ...model.decoder, session }, encoded);
  const { startToken, transcribeToken = 0, noTimestampsToken, endToken } = model.config;
  const decoded = await decodeGreedily(run, {
    prefix: [
      startToken,
      model.config.languageTokens.get('en') ?? 0,
      transcribeToken,
      noTimestampsToken,
    ],
    draft,
    endToken,
    allowed: model.allowed,
    allowedFirst: model.allowedFirst,
    tokensMax: 30,
    signal,
  });
  return { ...decoded, ids: decoded.tokens.map(({ id }) => id), steps };
}

test('decodeGreedily takes one step when the draft holds', async () => {
  const alone = await decodeWith([]);

  const drafted = await decodeWith(alone.ids);

  expect(alone.steps).toBe(alone.ids.length + 1);
  expect(drafted.steps).toBe(1);
  expect(drafted.ids).toEqual(alone.ids);
  expect(drafted.heldDraft).toBe(alone.ids.length);
  expect(drafted.meanLogProbability).toBeCloseTo(alone.meanLogProbability, 4);
});

test('decodeGreedily says the same whatever the draft', async () => {
  const alone = await decodeWith([]);
  const token = fc.oneof(fc.constantFrom(...alone.ids), fc.nat(1934));
  const draftArbitrary = fc
    .tuple(fc.nat(alone.ids.length), fc.array(token, { maxLength: 20 }))
    .map(([kept, more]) => [...alone.ids.slice(0, kept), ...more]);

  await fc.assert(
    fc.asyncProperty(draftArbitrary, async (draft) => {
      const drafted = await decodeWith(draft);

      expect(drafted.ids).toEqual(alone.ids);
      expect(drafted.meanLogProbability).toBeCloseTo(alone.meanLogProbability, 3);
    }),
    { numRuns: 40 },
  );
});
