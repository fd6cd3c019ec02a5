/** Speech recognition with installed, damaged or missing models, and with a thread that dies. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { WHISPER_LEAST, writeWhisper } from '../../bench/lib/whisper-sized.ts';
import { prepareModels } from '../../models/prepare/prepare-models.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import type { Hearing } from '../../src/speech/hearing/hearing.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { loudEngine } from './loud-detector.ts';
import { TINY_WHISPER_DIR } from './spoken-phrases.ts';
import { hearingWith, speak, voiceOf } from './tiny-model-hearing.ts';

const folder = mkdtempSync(join(tmpdir(), 'hearing-'));

afterAll(() => rmSync(folder, { recursive: true }));

let hearing: Hearing | null = null;

afterEach(() => hearing?.stop());

test('Hearing takes an installed model, and stops twice without harm', async () => {
  const modelsDir = join(folder, 'installed');
  cpSync(TINY_WHISPER_DIR, join(modelsDir, 'whisper/base'), { recursive: true });
  hearing = hearingWith({ modelsDir, vad: 'energy' });

  await hearing.start();

  const path = join(modelsDir, 'whisper/base');
  expect(hearing.hasVoiceDetector).toBe(false);
  expect(hearing.reports()).toEqual([
    {
      ...{ job: 'vad', engine: 'energy', reason: 'VAD=energy was set', isFallback: false },
      standIn: 'no_model',
    },
    { job: 'stt', engine: 'whisper', reason: `"${path}" is installed`, isFallback: false },
  ]);
  await hearing.stop();
  await hearing.stop();
});

test('Hearing goes on with a stand-in when a model is damaged, and says so', async () => {
  const modelsDir = join(folder, 'damaged');
  mkdirSync(join(modelsDir, 'vad'), { recursive: true });
  const path = join(modelsDir, 'vad/silero_vad.onnx');
  writeFileSync(path, 'not a model');
  hearing = hearingWith({ modelsDir, stt: 'none' });

  await hearing.start();

  const [vad] = hearing.reports();
  expect(vad?.isFallback).toBe(true);
  expect(vad?.reason).toContain(`Cannot load the voice detector "${path}": the file is damaged`);
  expect(vad?.reason).toContain('its model comes with Offhook');
});

test.each([
  { isPrepared: true },
  { isPrepared: false },
])('Hearing says whether a standard Whisper export is prepared ($isPrepared)', async ({
  isPrepared,
}) => {
  const modelsDir = join(folder, `prepared-${isPrepared}`);
  writeWhisper(join(modelsDir, 'stt/random'), WHISPER_LEAST, { table: 'float' });
  if (isPrepared) await prepareModels(modelsDir);
  hearing = hearingWith({ modelsDir, vad: 'energy' });

  await hearing.start();

  const report = hearing.reports().find(({ job }) => job === 'stt');
  expect(report).toMatchObject({ engine: 'whisper', isFallback: false });
  expect(report?.reason.includes('"npm run models" prepares')).toBe(!isPrepared);
});

test('Hearing.start throws when an engine asked for by name is damaged', async () => {
  const modelsDir = join(folder, 'named');
  cpSync(TINY_WHISPER_DIR, join(modelsDir, 'whisper'), { recursive: true });
  const path = join(modelsDir, 'whisper/onnx/encoder_model.onnx');
  writeFileSync(path, 'not a model');
  hearing = hearingWith({ modelsDir, stt: 'whisper' });

  await expect(hearing.start()).rejects.toThrow(
    `Cannot load the speech model "${path}": the file is damaged; put a whole copy there, or remove it`,
  );
});

test('SpeechListener.transcribe rejects where no recogniser is installed', async () => {
  hearing = hearingWith({ tinyDir: join(folder, 'nothing') });
  await hearing.start();
  const listener = hearing.open({ ring: new ReceiveRing(), language: 'en' });
  listener.beginUtterance(0);

  const asked = listener.transcribe({ priority: 'final' });

  await expect(asked).rejects.toThrow('no recogniser is installed');
  expect(hearing.reports().map(({ engine }) => engine)).toEqual(['silero', 'none']);
});

test('Hearing reopens its listeners when the thread dies', async () => {
  const hurried = { ...systemClock, after: after20TimesSooner };
  hearing = hearingWith({
    stt: 'none',
    clock: hurried,
    engines: { silero: loudEngine, recognizers: [whisperEngine] },
  });
  await hearing.start();
  const heard = new ReceiveRing();
  const listener = hearing.open({ ring: heard, language: 'en' });
  listener.beginUtterance(0);
  const started = voiceOf(listener, 'voice-started');

  heard.write(new Int16Array(512).fill(32_767), systemClock.nowMs());
  const beat = setInterval(() => speak(heard, new Int16Array(512).fill(10_000)), 20);
  const event = await started;
  clearInterval(beat);

  expect(event.kind).toBe('voice-started');
  listener.close();
});

function after20TimesSooner(delayMs: number, ring: () => void): () => void {
  return systemClock.after(delayMs / 20, ring);
}
