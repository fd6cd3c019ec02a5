/** `npm run admin -- self-test` as an operator runs it: the default models, a broken recogniser, a slow voice. */
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { runSelfTestProcess } from '../../src/operator/self-test.ts';
import { writePiperVoice } from '../support/speech/voice-graphs.ts';

const ADMIN = fileURLToPath(new URL('../../src/cli/admin.ts', import.meta.url));
const TINY = fileURLToPath(new URL('../../models/tiny/whisper', import.meta.url));

const PROGRAMS = '/usr/local/bin:/usr/bin:/bin';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-self-test-'));
  folders.push(folder);
  return folder;
}

interface Heard {
  readonly voices: string;
  readonly language: string;
  readonly line: 'clean' | 'babble';
  readonly wordErrorPercent: number;
}

interface Report {
  readonly callsByProcessorTime: number;
  readonly voices: readonly { engine: string; sentences: number; realTimeFactor: number }[];
  readonly recognizers: readonly { model: string; heard: readonly Heard[] }[];
  readonly languageModel: { readonly isRuleBook: boolean };
  readonly estimates: { readonly list: readonly object[]; readonly failure: string | null };
  readonly verdicts: readonly { subject: string; kind: string; reason: string }[];
}

/** @param path goes before PATH. */
async function selfTest(
  options: { modelsDir?: string; path?: string; words?: string[]; settings?: object } = {},
) {
  const { modelsDir = scratch(), path = '', words = ['--json'] } = options;
  const env = {
    PATH: `${path}:${PROGRAMS}`,
    HOME: homedir(),
    DATA_DIR: scratch(),
    MODELS_DIR: modelsDir,
    LLM: 'scripted',
    ...options.settings,
  };
  return new Promise<{ status: number; output: string; report(): Report }>((resolve) => {
    execFile(
      process.execPath,
      [ADMIN, 'self-test', ...words],
      { env, cwd: modelsDir },
      (error, output) =>
        resolve({
          status: error === null ? 0 : Number(error.code),
          output,
          report: () => JSON.parse(output),
        }),
    );
  });
}

function percentOf({ recognizers }: Report, line: Heard['line'], language = 'en') {
  const rows = recognizers.flatMap(({ heard }) => heard);
  return rows.find((row) => row.line === line && row.language === language)?.wordErrorPercent;
}

test('proves the default models: forty English sentences, clean and with babble, and no private word', async () => {
  const { status, output, report } = await selfTest();
  const found = report();

  expect(status, output).toBe(0);
  expect(found.voices).toMatchObject([{ sentences: 49 }]);
  expect(percentOf(found, 'clean')).toBeLessThanOrEqual(5);
  expect(percentOf(found, 'babble')).toBeGreaterThan(percentOf(found, 'clean') ?? 100);
  expect(percentOf(found, 'clean', 'es')).toBeLessThanOrEqual(10);
  expect(found.callsByProcessorTime).toBeGreaterThan(0);
  expect(found.languageModel.isRuleBook).toBe(true);
  expect(found.estimates).toMatchObject({ failure: null, list: [{}, {}, {}, {}] });
  expect(found.verdicts.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
  for (const place of [homedir(), tmpdir(), process.cwd()])
    expect(output).not.toContain(`${place}/`);
});

test('exits with 1 where a recogniser is broken, and names it without its folder', async () => {
  const modelsDir = scratch();
  const folder = join(modelsDir, 'stt', 'whisper-broken');
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  for (const file of ['config.json', 'generation_config.json', 'tokenizer.json']) {
    copyFileSync(join(TINY, file), join(folder, file));
  }
  writeFileSync(join(folder, 'onnx', 'encoder_model.onnx'), 'not a graph');

  const { status, output } = await selfTest({ modelsDir, words: [] });

  expect(status).toBe(1);
  expect(output).toMatch(/FAILED {2}recogniser whisper-broken: .*MODELS_DIR\/stt\/whisper-broken/);
  expect(output).not.toContain(modelsDir);
});

test('exits with 1 where an engine that a setting names is not installed', async () => {
  const { status, output } = await selfTest({
    words: [],
    settings: { STT: 'moonshine', TTS: 'kokoro' },
  });

  expect(status).toBe(1);
  expect(output).toMatch(
    /FAILED {2}voice kokoro: no kokoro voice in "MODELS_DIR\/tts"; run "npm run models/,
  );
  expect(output).toMatch(/FAILED {2}recogniser moonshine: no moonshine model in "MODELS_DIR"/);
});

test('says which voice is too slow, and still exits with 0', async () => {
  const path = scratch();
  const program = join(path, 'espeak-ng');
  const real = `PATH=${PROGRAMS} exec espeak-ng "$@"`;
  writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] || sleep 3\n${real}\n`);
  chmodSync(program, 0o755);

  const { status, report } = await selfTest({ path, words: ['--json', '--seconds', '6'] });
  const [voice] = report().verdicts;

  expect(voice).toMatchObject({ subject: 'voice espeak', kind: 'too slow' });
  expect(voice?.reason).toMatch(/^first sound after \d{3,} ms, more than 700$/);
  expect(status).toBe(0);
});

test('hears neural voices one by one, and reports a damaged one', async () => {
  const modelsDir = scratch();
  writePiperVoice(modelsDir, 'en_US-amy-medium');
  writeFileSync(writePiperVoice(modelsDir, 'de_DE-kerstin-low'), 'not a graph');

  const { status, report } = await selfTest({ modelsDir });
  const { verdicts, voices } = report();

  expect(voices.map(({ engine }) => engine)).toEqual(['piper', 'espeak']);
  expect(verdicts[0]).toMatchObject({ subject: 'voice piper', kind: 'failed' });
  expect(verdicts[0]?.reason).toContain('de_DE-kerstin-low');
  expect(status).toBe(1);
});

test('the dashboard’s process gives the same report, and ends with the server', async () => {
  const { isPassed, report } = await runSelfTestProcess(new AbortController().signal);
  const stopping = new AbortController();
  const stopped = runSelfTestProcess(stopping.signal);
  stopping.abort();

  expect(isPassed, report).toBe(true);
  expect(report).toMatch(/OK {2}recogniser tiny whisper: a sentence takes \d+ ms/);
  expect(await stopped).toMatchObject({ isPassed: false });
});
