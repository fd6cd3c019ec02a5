/** The turn detector within speech recognition: our own tiny model in its child process, installed models, damaged models. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import type { HearingSettings } from '../../src/speech/hearing/choose-hearing.ts';
import type { Hearing, VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { smartTurnEngine } from '../../src/speech/turn-detection/turn-detector.ts';
import { sileroEngine } from '../../src/speech/vad/silero/silero-engine.ts';
import { phraseSaying } from './spoken-phrases.ts';
import { hearingWith, speak } from './tiny-model-hearing.ts';

const folder = mkdtempSync(join(tmpdir(), 'turn-'));
const damaged = join(folder, 'turn', 'broken', 'model.onnx');
const TINY_DIR = join(import.meta.dirname, '../../models/tiny');
let hearing: Hearing | null = null;

mkdirSync(join(folder, 'turn', 'broken'), { recursive: true });
writeFileSync(damaged, 'not a model');
afterEach(async () => {
  await hearing?.stop();
  hearing = null;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** With `alone`, nothing but the turn model is started. */
async function start(settings: Partial<HearingSettings>, alone = true): Promise<Hearing> {
  const engines: HearingSettings['engines'] = {
    silero: sileroEngine,
    recognizers: [whisperEngine],
    smartTurn: smartTurnEngine,
  };
  const others = alone ? ({ vad: 'energy', stt: 'none' } as const) : {};
  hearing = hearingWith({ engines, ...others, ...settings });
  await hearing.start();
  return hearing;
}

const turnReport = (of: Hearing) => of.reports().find(({ job }) => job === 'turn');

test('Hearing scores a pause with the turn model, once the voice has stopped', async () => {
  const one = await start({ turn: 'smart-turn', modelsDir: TINY_DIR }, false);
  const heard = new ReceiveRing();
  const listener = one.open({ ring: heard, language: 'en' });
  const events: VoiceEvent[] = [];
  const scored = new Promise<void>((resolve) => {
    listener.onVoice((event) => {
      events.push(event);
      if (event.kind === 'voice-started') listener.beginUtterance(event.atMs);
      if (event.kind === 'turn-scored') resolve();
    });
  });

  speak(heard, phraseSaying('What are your opening hours?'));
  await scored;

  const stopped = events.find(({ kind }) => kind === 'voice-stopped');
  const score = events.find(({ kind }) => kind === 'turn-scored');
  expect(stopped).toMatchObject({ lastVoicedAtMs: expect.any(Number) });
  const { lastVoicedAtMs } = { lastVoicedAtMs: 0, ...stopped };
  expect(score).toEqual({ kind: 'turn-scored', lastVoicedAtMs, probability: expect.any(Number) });
  listener.close();
});

test('Hearing says that its own turn model is small, and trusts it little', async () => {
  const one = await start({ turn: 'smart-turn', modelsDir: relative('.', TINY_DIR) });

  expect(one.turnTrust).toBe(0.2);
  expect(turnReport(one)).toMatchObject({ engine: 'smart-turn', isFallback: true });
  expect(turnReport(one)?.reason).toContain('wrong one time in five');
});

test('Hearing.start throws when a turn model was asked for by name and none is installed', async () => {
  const missing = start({ turn: 'smart-turn', modelsDir: 'nothing-is-here' });

  await expect(missing).rejects.toThrow(
    'no smart-turn model in "nothing-is-here" ("npm run models" downloads one)',
  );
});

test('Hearing does without a turn model where none is installed, and says so', async () => {
  const one = await start({ turn: 'auto', modelsDir: 'nothing-is-here' });

  expect(one.turnTrust).toBe(0);
  expect(turnReport(one)).toEqual({
    job: 'turn',
    engine: 'off',
    standIn: 'no_model',
    reason:
      'no smart-turn model in "nothing-is-here" ("npm run models" downloads one); the words alone tell its end',
    isFallback: true,
  });
});

test('Hearing goes on with the words alone when the turn model is damaged, and names the file', async () => {
  const one = await start({ turn: 'auto', modelsDir: folder });

  expect(one.turnTrust).toBe(0);
  expect(turnReport(one)).toMatchObject({ engine: 'off', isFallback: true });
  expect(turnReport(one)?.reason).toContain(`"${damaged}": the file is damaged`);
});

test('Hearing.start throws when the turn model that was asked for by name is damaged', async () => {
  await expect(start({ turn: 'smart-turn', modelsDir: folder })).rejects.toThrow(damaged);
});

test('Hearing says that the turn model was switched off', async () => {
  const one = await start({ turn: 'off' });

  expect(turnReport(one)).toEqual({
    job: 'turn',
    engine: 'off',
    standIn: 'no_model',
    reason: 'TURN=off was set',
    isFallback: false,
  });
});
