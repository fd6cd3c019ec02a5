/** transformers.js as an engine: what it hears, and what is said where the package is missing. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { transformersEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { openRecognizer } from '../../src/speech/stt/transformers/transformers-recognizer.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const folder = mkdtempSync(join(tmpdir(), 'transformers-'));
const { signal } = new AbortController();

afterAll(() => rmSync(folder, { recursive: true }));

test('openRecognizer hears a phrase through transformers.js, in its language', async () => {
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  const utterance = recognizer.open({ language: 'es-MX' });
  utterance.push(phraseSaying('Quiero una cita.'));

  const heard = await utterance.transcribe({ isFinal: true, signal });
  await recognizer.close();

  expect(heard).toMatchObject({ text: 'Quiero una cita.', language: 'es' });
  expect(heard.words.map(({ text }) => text)).toEqual(['Quiero', 'una', 'cita.']);
  expect(recognizer.drawback).toContain('30 s at a time');
});

test('transformersEngine is for those who ask for it by name', () => {
  expect(transformersEngine.isOnRequest).toBe(true);
});

test('openRecognizer names the package where it is not installed', () => {
  // Away from node_modules, the package is not there.
  for (const part of ['speech', 'media', 'lib', 'rtp']) {
    cpSync(`src/${part}`, join(folder, 'src', part), { recursive: true });
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const url = pathToFileURL(
    join(folder, 'src/speech/stt/transformers/transformers-recognizer.ts'),
  ).href;
  const program = `const { openRecognizer } = await import(${JSON.stringify(url)});
    await openRecognizer('models/any').catch((error) => console.log(error.message));`;

  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    cwd: folder,
  });

  expect(printed.trim()).toBe(
    'Cannot load the speech model "models/any": the package "@huggingface/transformers" is not installed: run "npm install @huggingface/transformers"',
  );
});
