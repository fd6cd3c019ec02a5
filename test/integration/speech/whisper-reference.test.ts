/** Our Whisper against transformers.js: the same model, the same audio, the same text. */
import { fileURLToPath } from 'node:url';
import { env, pipeline } from '@huggingface/transformers';
import { afterAll, expect, test } from 'vitest';
import { Upsampler } from '../../../src/speech/stt/features/resampler.ts';
import { openRecognizer } from '../../../src/speech/stt/whisper/whisper-recognizer.ts';
import { readPhrase, SPOKEN_PHRASES, TINY_WHISPER_DIR } from '../../speech/spoken-phrases.ts';

env.allowRemoteModels = false;
env.localModelPath = fileURLToPath(new URL('../../../models/tiny/', import.meta.url));

const reference = await pipeline('automatic-speech-recognition', 'whisper', {
  dtype: 'fp32',
  device: 'cpu',
});
const recognizer = await openRecognizer(TINY_WHISPER_DIR);

afterAll(async () => {
  await recognizer.close();
  await reference.dispose();
});

test.each(SPOKEN_PHRASES)('Whisper hears "$text" as transformers.js does', async (phrase) => {
  const pcm = readPhrase(phrase.file);
  const expected = await reference(new Upsampler().push(pcm), {
    language: phrase.language,
    task: 'transcribe',
  });

  const utterance = recognizer.open({ language: phrase.language });
  utterance.push(pcm);
  const heard = await utterance.transcribe({
    isFinal: true,
    signal: new AbortController().signal,
  });

  expect(heard.text).toBe((Array.isArray(expected) ? expected[0]?.text : expected.text)?.trim());
});
