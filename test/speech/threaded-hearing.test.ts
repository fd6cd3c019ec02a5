/** The whole ear: a call's ring, the hearing thread, the recogniser's child, and the words. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { HeardRing } from '../../src/media/heard-ring.ts';
import { chooseHearing, type HearingSettings } from '../../src/speech/choose-hearing.ts';
import {
  type Ear,
  type Hearing,
  RecognitionError,
  type VoiceEvent,
} from '../../src/speech/hearing.ts';
import { sileroEngine } from '../../src/speech/silero/silero-engine.ts';
import { whisperEngine } from '../../src/speech/whisper/whisper-engine.ts';
import { loudEngine } from './loud-detector.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

const folder = mkdtempSync(join(tmpdir(), 'hearing-'));

afterAll(() => rmSync(folder, { recursive: true }));

function hearingWith(settings: Partial<HearingSettings> = {}): Hearing {
  return chooseHearing({
    vad: 'auto',
    stt: 'auto',
    modelsDir: join(folder, 'models'),
    clock: systemClock,
    logger: silentLogger,
    engines: { silero: sileroEngine, whisper: whisperEngine },
    recognizers: 1,
    ...settings,
  });
}

/** A caller whose frames of 20 ms have all arrived by now, the last one just so. */
function speak(heard: HeardRing, pcm: Int16Array): void {
  const lastAtMs = systemClock.nowMs();
  const frames = Math.ceil(pcm.length / 160);
  for (let frame = 0; frame < frames; frame += 1) {
    const atMs = lastAtMs - (frames - 1 - frame) * 20;
    heard.write(pcm.subarray(frame * 160, (frame + 1) * 160), atMs);
  }
}

/** Waits for the next voice event of a kind. */
function voiceOf(ear: Ear, kind: VoiceEvent['kind']): Promise<VoiceEvent> {
  return new Promise((resolve) => {
    ear.onVoice((event) => {
      if (event.kind === kind) resolve(event);
    });
  });
}

describe('with our own tiny models', () => {
  const hearing = hearingWith();

  beforeAll(() => hearing.start());
  afterAll(() => hearing.stop());

  test('Hearing reports stand-ins, and says what they are', () => {
    expect(hearing.hasVoiceDetector).toBe(true);
    expect(hearing.reports()).toMatchObject([
      { job: 'vad', engine: 'silero', isFallback: true },
      { job: 'stt', engine: 'whisper', isFallback: true },
    ]);
    expect(hearing.reports()[1]?.reason).toContain('a closed set of phrases only');
  });

  test('Hearing tells when a voice began and gives its words', async () => {
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'en' });
    const started = voiceOf(ear, 'voice-started');
    const pcm = phraseSaying('What are your opening hours?');
    const beganAtMs = systemClock.nowMs() - pcm.length / 8;
    speak(heard, pcm);

    const event = await started;
    ear.beginUtterance(event.kind === 'voice-started' ? event.atMs : 0);
    const utterance = await ear.transcribe({ priority: 'final' });

    expect(utterance.text).toBe('What are your opening hours?');
    expect(utterance.language).toBe('en');
    expect(utterance.words.map(({ text }) => text)).toEqual(utterance.text.split(' '));
    expect(utterance.tookMs).toBeGreaterThan(0);
    // The fixture's voice begins about 300 ms after its start.
    expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeGreaterThan(200);
    expect(event.kind === 'voice-started' && event.atMs - beganAtMs).toBeLessThan(450);
    ear.close();
  });

  test('Hearing tells when a voice stopped, also when no more audio comes', async () => {
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'en' });
    const stopped = voiceOf(ear, 'voice-stopped');
    const pcm = phraseSaying('Transfer me to a person.');

    speak(heard, pcm.subarray(0, 10_000));
    const event = await stopped;

    const gapMs = event.kind === 'voice-stopped' ? heard.endAtMs - event.lastVoicedAtMs : -1;
    expect(gapMs).toBeGreaterThanOrEqual(0);
    expect(gapMs).toBeLessThan(64);
    ear.close();
  });

  test('Hearing keeps two callers apart', async () => {
    const texts = ['My name is Alice Smith.', 'Yes, please.'];
    const calls = texts.map((text) => {
      const heard = new HeardRing();
      const ear = hearing.open({ heard, language: 'en' });
      ear.beginUtterance(0);
      speak(heard, phraseSaying(text));
      return ear;
    });

    const utterances = await Promise.all(calls.map((ear) => ear.transcribe({ priority: 'final' })));

    expect(utterances.map(({ text }) => text)).toEqual(texts);
    for (const ear of calls) ear.close();
  });

  test('Hearing hears the second utterance of a call without the first', async () => {
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'en' });
    ear.beginUtterance(0);
    speak(heard, phraseSaying('Goodbye.'));
    const first = await ear.transcribe({ priority: 'final' });
    ear.endUtterance();

    ear.beginUtterance(heard.endAtMs + 300);
    speak(heard, phraseSaying('No, thank you.'));
    const second = await ear.transcribe({ priority: 'final' });

    expect([first.text, second.text]).toEqual(['Goodbye.', 'No, thank you.']);
    ear.close();
  });

  test('Hearing answers a request although the utterance is ended at once', async () => {
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'es' });
    ear.beginUtterance(0);
    speak(heard, phraseSaying('Quiero una cita.'));

    const asked = ear.transcribe({ priority: 'final' });
    ear.endUtterance();

    expect((await asked).text).toBe('Quiero una cita.');
    ear.close();
  });

  test('Ear.transcribe rejects with the reason of its signal', async () => {
    const ear = hearing.open({ heard: new HeardRing(), language: 'en' });
    ear.beginUtterance(0);
    const abort = new AbortController();

    const asked = ear.transcribe({ priority: 'speculative', signal: abort.signal });
    abort.abort(new Error('the caller spoke on'));

    await expect(asked).rejects.toThrow('the caller spoke on');
    ear.close();
  });

  test('Ear.transcribe rejects when the wait is over', async () => {
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'en' });
    ear.beginUtterance(0);
    speak(heard, phraseSaying('Goodbye.'));

    const asked = ear.transcribe({ priority: 'final', timeoutMs: 0 });

    await expect(asked).rejects.toThrow('no answer within 0 ms');
    ear.close();
  });

  test('Ear.transcribe rejects when no utterance has begun, and when the ear is closed', async () => {
    const ear = hearing.open({ heard: new HeardRing(), language: 'en' });

    const early = ear.transcribe({ priority: 'final' });
    await expect(early).rejects.toThrow('no utterance has begun');
    ear.close();
    const late = ear.transcribe({ priority: 'final' });

    await expect(late).rejects.toThrow(RecognitionError);
  });
});

describe('with other models', () => {
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
      { job: 'vad', engine: 'energy', reason: 'VAD=energy was set', isFallback: false },
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
    expect(vad?.reason).toContain('our own tiny model stands in');
  });

  test('Hearing.start throws when an engine asked for by name is damaged', async () => {
    const modelsDir = join(folder, 'named');
    cpSync(TINY_WHISPER_DIR, join(modelsDir, 'whisper'), { recursive: true });
    const path = join(modelsDir, 'whisper/onnx/encoder_model.onnx');
    writeFileSync(path, 'not a model');
    hearing = hearingWith({ modelsDir, stt: 'whisper' });

    await expect(hearing.start()).rejects.toThrow(
      `Cannot load the speech model "${path}": the file is damaged; fetch it again with "npm run models", or remove it`,
    );
  });

  test('Ear.transcribe rejects where no recogniser is installed', async () => {
    hearing = hearingWith({ tinyDir: join(folder, 'nothing') });
    await hearing.start();
    const ear = hearing.open({ heard: new HeardRing(), language: 'en' });
    ear.beginUtterance(0);

    const asked = ear.transcribe({ priority: 'final' });

    await expect(asked).rejects.toThrow('no recogniser is installed');
    expect(hearing.reports().map(({ engine }) => engine)).toEqual(['energy', 'none']);
  });

  test('Hearing opens its ears again when the thread dies', async () => {
    const hurried = { ...systemClock, after: after20TimesSooner };
    hearing = hearingWith({
      stt: 'none',
      clock: hurried,
      engines: { silero: loudEngine, whisper: whisperEngine },
    });
    await hearing.start();
    const heard = new HeardRing();
    const ear = hearing.open({ heard, language: 'en' });
    ear.beginUtterance(0);
    const started = voiceOf(ear, 'voice-started');

    heard.write(new Int16Array(512).fill(32_767), systemClock.nowMs());
    const beat = setInterval(() => speak(heard, new Int16Array(512).fill(10_000)), 20);
    const event = await started;
    clearInterval(beat);

    expect(event.kind).toBe('voice-started');
    ear.close();
  });
});

function after20TimesSooner(delayMs: number, ring: () => void): () => void {
  return systemClock.after(delayMs / 20, ring);
}
