/** The estimate of a recogniser against the real thing: Whisper of the published shape, with weights that mean nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WHISPER_BASE, writeWhisper } from '../../bench/lib/whisper-sized.ts';
import { prepareModels } from '../../models/prepare/prepare-models.ts';
import { estimateMissing, measureMachine } from '../../src/compose/self-test.ts';
import { answerMsOf } from '../../src/speech/self-test/self-test-report.ts';
import { DecoderRun } from '../../src/speech/stt/decoding/decoder-run.ts';
import { loadWhisperModel } from '../../src/speech/stt/whisper/whisper-model.ts';

const RUNS = 5;

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-speed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Three seconds of sound, four tokens at once, then twelve one by one. Time of the processor, in milliseconds. */
async function measuredAnswerMs(folder: string): Promise<number> {
  const model = await loadWhisperModel(folder, 1);
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run <= RUNS; run += 1) {
    const before = process.cpuUsage();
    const values = new Float32Array(80 * 300).fill(0.1);
    const decoder = new DecoderRun(
      model.decoder,
      await model.encoder.encode({ values, frames: 300 }),
    );
    await decoder.step([425, 426, 429, 433]);
    for (let token = 0; token < 12; token += 1) await decoder.step([10 + token * 7]);
    const { user, system } = process.cpuUsage(before);
    leastMs = Math.min(leastMs, (user + system) / 1000);
  }
  await model.close();
  return leastMs;
}

test.each([
  ['whisper-tiny', { ...WHISPER_BASE, modelSize: 384, heads: 6, layers: 4, hidden: 1536 }],
  ['whisper-base', WHISPER_BASE],
])('the estimate of %s is within a factor of two of what it takes', async (id, size) => {
  const modelsDir = scratch();
  const folder = join(modelsDir, 'stt', id);
  writeWhisper(folder, size, { precision: 'int8' });
  await prepareModels(modelsDir);

  const measuredMs = await measuredAnswerMs(folder);
  const estimatedMs = answerMsOf(id, await measureMachine());

  expect(measuredMs / estimatedMs).toBeGreaterThan(0.5);
  expect(measuredMs / estimatedMs).toBeLessThan(2);
});

test('estimateMissing estimates the recognisers of every profile where none is installed', async () => {
  const settings = { MODELS_PROFILE: 'standard', OLLAMA_HOST: 'http://127.0.0.1:9' } as const;

  const { list, failure } = await estimateMissing({ ...settings, MODELS_DIR: scratch() });

  expect(failure).toBeNull();
  expect(list.flatMap(({ profiles }) => profiles)).toEqual(['small', 'standard', 'best']);
  for (const { answerMs } of list) expect(answerMs).toBeGreaterThan(1);
});

test('estimateMissing says why it estimates nothing where the list of models cannot be read', async () => {
  const settings = { MODELS_PROFILE: 'standard', OLLAMA_HOST: 'http://127.0.0.1:9' } as const;
  const modelsDir = scratch();

  const found = await estimateMissing(
    { ...settings, MODELS_DIR: modelsDir },
    join(modelsDir, 'no'),
  );

  expect(found).toEqual({ list: [], failure: expect.stringContaining('Cannot read the list') });
});
