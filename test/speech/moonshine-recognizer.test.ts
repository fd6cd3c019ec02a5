/** Moonshine on a model of random weights: that the parts fit together, and what is said when they don't. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { MOONSHINE_LEAST, writeMoonshine } from '../../bench/lib/moonshine-sized.ts';
import {
  openRecognizer,
  PieceTokenizer,
} from '../../src/speech/stt/moonshine/moonshine-recognizer.ts';
import { moonshineEngine, whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';
import { hearingWith } from './tiny-model-hearing.ts';

const modelsDir = mkdtempSync(join(tmpdir(), 'moonshine-'));
const folder = join(modelsDir, 'stt/moonshine-base');
const { signal } = new AbortController();

beforeEach(() => writeMoonshine(folder, MOONSHINE_LEAST));

afterAll(() => rmSync(modelsDir, { recursive: true }));

test('openRecognizer runs a Moonshine from sound to words, as long as the sound is', async () => {
  const recognizer = await openRecognizer(folder);
  const utterance = recognizer.open({ language: 'en' });
  utterance.push(phraseSaying('Goodbye.'));

  const heard = await utterance.transcribe({ isFinal: true, signal });
  await recognizer.close();

  expect(heard.text).toMatch(/^(word\d+ ?)*$/);
  expect(heard.words.length).toBeGreaterThan(0);
  expect(heard.words.length).toBeLessThanOrEqual(13);
  expect(heard.confidence).toBeGreaterThan(0);
  expect(heard.audioMs).toBeCloseTo(1654, -1);
});

test('openRecognizer says the same of sound that grew, asked in between', async () => {
  const recognizer = await openRecognizer(folder);
  const pcm = phraseSaying('My name is Alice Smith.');
  const [grown, whole] = [recognizer.open({ language: 'en' }), recognizer.open({ language: 'en' })];
  whole.push(pcm);
  for (let start = 0; start < pcm.length; start += 4000) {
    grown.push(pcm.subarray(start, start + 4000));
    await grown.transcribe({ isFinal: false, signal });
  }

  const [one, other] = [
    await grown.transcribe({ isFinal: true, signal }),
    await whole.transcribe({ isFinal: true, signal }),
  ];
  await recognizer.close();

  expect(one.text).toBe(other.text);
  expect(one.agreedWords).toBe(one.words.length);
});

test('openRecognizer hears no words in less than 100 ms', async () => {
  const recognizer = await openRecognizer(folder);
  const utterance = recognizer.open({ language: 'en' });
  utterance.push(new Int16Array(700));

  const heard = await utterance.transcribe({ isFinal: true, signal });
  await recognizer.close();

  expect(heard).toMatchObject({ text: '', noSpeechProbability: 1 });
});

test('each engine finds its own models and not the other one’s', () => {
  cpSync(TINY_WHISPER_DIR, join(modelsDir, 'stt/whisper-base'), { recursive: true });

  expect(moonshineEngine.find(modelsDir)).toEqual([folder]);
  expect(whisperEngine.find(modelsDir)).toEqual([join(modelsDir, 'stt/whisper-base')]);
  rmSync(join(modelsDir, 'stt/whisper-base'), { recursive: true });
});

test.each([
  {
    file: 'onnx/encoder_model.onnx',
    reason: 'the file is damaged',
    spoil: (path: string) => truncateSync(path, 2000),
  },
  {
    file: 'onnx/decoder_model_merged.onnx',
    reason: 'there is no such file',
    spoil: (path: string) => rmSync(path),
  },
  {
    file: 'onnx/decoder_model_merged.onnx',
    reason: 'it has no "past_key_values.2.decoder.key": is it the merged decoder?',
    spoil: () => edit({ decoder_num_hidden_layers: 3 }),
  },
  {
    file: 'config.json',
    reason: 'its "hidden_size" is not a positive whole number',
    spoil: () => edit({ hidden_size: 'many' }),
  },
  {
    file: 'tokenizer.json',
    reason: 'expected "model.vocab" and "added_tokens" of a BPE tokenizer',
    spoil: (path: string) => writeFileSync(path, '{}'),
  },
])('openRecognizer refuses a Moonshine whose $file is no good: $reason', async ({
  file,
  reason,
  spoil,
}) => {
  spoil(join(folder, file));

  await expect(openRecognizer(folder)).rejects.toThrow(
    `Cannot load the speech model "${join(folder, file)}": ${reason}; put a whole copy there, or remove it`,
  );
});

function edit(change: object): void {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
}

test('Hearing goes on with the tiny Whisper when an installed Moonshine is damaged, and says so', async () => {
  truncateSync(join(folder, 'onnx/encoder_model.onnx'), 2000);
  const recognizers = [whisperEngine, moonshineEngine] as const;
  const hearing = hearingWith({ modelsDir, vad: 'energy' }, recognizers);

  await hearing.start();
  const report = hearing.reports().find(({ job }) => job === 'stt');
  await hearing.stop();

  expect(report).toMatchObject({ engine: 'whisper', isFallback: true });
  expect(report?.reason).toContain(
    `"${join(folder, 'onnx/encoder_model.onnx')}": the file is damaged`,
  );
});

test('Hearing uses a Moonshine that is asked for by name', async () => {
  const recognizers = [whisperEngine, moonshineEngine] as const;
  const hearing = hearingWith({ modelsDir, vad: 'energy', stt: 'moonshine' }, recognizers);

  await hearing.start();
  const report = hearing.reports().find(({ job }) => job === 'stt');
  await hearing.stop();

  expect(report).toEqual({
    job: 'stt',
    engine: 'moonshine',
    reason: `"${folder}" is installed`,
    isFallback: false,
  });
});

test('PieceTokenizer puts bytes together, and spaces where words begin', () => {
  const vocab = { '▁caf': 0, '<0xC3>': 1, '<0xA9>': 2, '▁au': 3, '</s>': 4 };
  const tokenizer = PieceTokenizer.parse({
    model: { vocab },
    added_tokens: [{ id: 4, content: '</s>', special: true }],
  });

  expect(tokenizer.decode([0, 1, 2, 3, 4])).toBe(' café au');
  expect([0, 1, 3].map((id) => tokenizer.startsWord(id))).toEqual([true, false, true]);
});
