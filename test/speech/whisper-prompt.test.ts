/** Telling Whisper which names are likely to be said. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { WHISPER_LEAST, writeWhisper } from '../../bench/lib/whisper-sized.ts';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

/** A model whose tokenizer has learnt a merge, as real ones have thousands; its words mean nothing. */
const folder = mkdtempSync(join(tmpdir(), 'prompt-'));
writeWhisper(folder, WHISPER_LEAST, { table: 'free' });
const path = join(folder, 'tokenizer.json');
const json = JSON.parse(readFileSync(path, 'utf8'));
json.model.merges = ['e r'];
writeFileSync(path, JSON.stringify(json));
const random = await openRecognizer(folder);
const tiny = await openRecognizer(TINY_WHISPER_DIR);

afterAll(async () => {
  await Promise.all([random.close(), tiny.close()]);
  rmSync(folder, { recursive: true });
});

async function heardBy(recognizer: typeof tiny, prompt: string | undefined, isFinal = false) {
  const options = prompt === undefined ? {} : { prompt };
  const utterance = recognizer.open({ language: 'en', ...options });
  utterance.push(phraseSaying('My name is Alice Smith.'));
  const { signal } = new AbortController();
  return utterance.transcribe({ isFinal, signal });
}

test('openRecognizer has the model read the prompt before it listens', async () => {
  const [without, acme, other] = [
    await heardBy(random, undefined),
    await heardBy(random, 'Acme, Sales, Dr. Ólafur.'),
    await heardBy(random, 'Billing'),
  ];

  expect(new Set([without, acme, other].map(({ confidence }) => confidence)).size).toBe(3);
});

test('openRecognizer takes an empty prompt for none', async () => {
  const [without, empty] = [await heardBy(random, undefined), await heardBy(random, '  ')];

  expect(empty.confidence).toBe(without.confidence);
});

test('openRecognizer takes as much of a prompt as the model has places for', async () => {
  const heard = await heardBy(random, 'Acme Clinic, '.repeat(500));

  expect(heard.confidence).toBeGreaterThan(0);
});

test('openRecognizer spares a model the prompt whose closed vocabulary could not write it', async () => {
  const [without, prompted] = [
    await heardBy(tiny, undefined),
    await heardBy(tiny, 'Acme Clinic, Sales.'),
  ];

  expect(prompted.text).toBe('My name is Alice Smith.');
  expect(prompted.confidence).toBe(without.confidence);
});

test('openRecognizer tries a doubtful text again without the prompt, over 30 s, and takes the surer one', async () => {
  // Weights that mean nothing doubt everything; each prompt gives them another answer.
  const prompts = ['Acme', 'Billing', 'Sales, Support', 'Dr. Jones', 'Reception', 'Garage'];
  const [first, last] = [
    await Promise.all(prompts.map((prompt) => heardBy(random, prompt))),
    await Promise.all(prompts.map((prompt) => heardBy(random, prompt, true))),
  ];

  const [again] = last.map(({ confidence }) => confidence);
  expect(new Set(last.map(({ confidence }) => confidence)).size).toBe(1);
  expect(again).toBeGreaterThan(Math.max(...first.map(({ confidence }) => confidence)));
});
