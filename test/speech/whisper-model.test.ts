/** Whisper exports that cannot be used: each refusal names the file, the reason and the remedy. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'whisper-'));
  cpSync(TINY_WHISPER_DIR, folder, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

function edit(file: string, change: (json: Record<string, unknown>) => void): void {
  const path = join(folder, file);
  const json = JSON.parse(readFileSync(path, 'utf8'));
  change(json);
  writeFileSync(path, JSON.stringify(json));
}

test.each([
  {
    file: 'onnx/encoder_model.onnx',
    reason: 'the file is damaged',
    spoil: (path: string) => truncateSync(path, 100_000),
  },
  {
    file: 'onnx/decoder_model_merged.onnx',
    reason: 'the file is damaged',
    spoil: (path: string) => truncateSync(path, 100_000),
  },
  {
    file: 'onnx/decoder_model_merged.onnx',
    reason: 'there is no such file',
    spoil: (path: string) => rmSync(path),
  },
  {
    file: 'config.json',
    reason: 'there is no such file',
    spoil: (path: string) => rmSync(path),
  },
  {
    file: 'config.json',
    reason: 'its "d_model" is not a positive whole number',
    spoil: () => edit('config.json', (json) => delete json.d_model),
  },
  {
    file: 'config.json',
    reason: 'its "model_type" is not "whisper"',
    spoil: () => edit('config.json', (json) => Object.assign(json, { model_type: 'bert' })),
  },
  {
    file: 'tokenizer.json',
    reason: 'expected "model.vocab" and "added_tokens" of a BPE tokenizer',
    spoil: () => edit('tokenizer.json', (json) => delete json.model),
  },
  {
    file: 'onnx/decoder_model_merged.onnx',
    reason: 'it has no "past_key_values.2.decoder.key": is it the merged decoder?',
    spoil: () => edit('config.json', (json) => Object.assign(json, { decoder_layers: 3 })),
  },
])('openRecognizer refuses $file: $reason', async ({ file, reason, spoil }) => {
  spoil(join(folder, file));

  const opened = openRecognizer(folder);

  await expect(opened).rejects.toThrow(
    `Cannot load the speech model "${join(folder, file)}": ${reason}; put a whole copy there, or remove it`,
  );
});

test('openRecognizer names the file when JSON is cut off', async () => {
  truncateSync(join(folder, 'tokenizer.json'), 1000);

  await expect(openRecognizer(folder)).rejects.toThrow(
    `Cannot load the speech model "${join(folder, 'tokenizer.json')}": `,
  );
});

test('openRecognizer prefers quantized files', async () => {
  for (const name of ['encoder_model', 'decoder_model_merged']) {
    cpSync(join(folder, `onnx/${name}.onnx`), join(folder, `onnx/${name}_quantized.onnx`));
    writeFileSync(join(folder, `onnx/${name}.onnx`), 'not read');
  }

  const recognizer = await openRecognizer(folder);

  const utterance = recognizer.open({ language: 'en' });
  utterance.push(phraseSaying('Goodbye.'));
  const heard = await utterance.transcribe({ isFinal: true, signal: new AbortController().signal });
  expect(heard.text).toBe('Goodbye.');
  await recognizer.close();
});

test('openRecognizer does without generation_config.json', async () => {
  rmSync(join(folder, 'generation_config.json'));

  const recognizer = await openRecognizer(folder);

  const utterance = recognizer.open({ language: 'es' });
  utterance.push(phraseSaying('Quiero una cita.'));
  const heard = await utterance.transcribe({ isFinal: true, signal: new AbortController().signal });
  expect(heard.text).toBe('Quiero una cita.');
  await recognizer.close();
});
