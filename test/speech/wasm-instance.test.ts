import { afterAll, expect, test, vi } from 'vitest';
import { phonemeArguments } from '../../src/speech/tts/espeak/espeak-voice.ts';
import { EspeakInstance, loadModule } from '../../src/speech/tts/espeak/wasm-instance.ts';

const espeak = await loadModule('espeak-ng');

// espeak-ng throws its dice for hissing sounds by the second of the day.
vi.useFakeTimers({ toFake: ['Date'] });
afterAll(() => void vi.useRealTimers());

const SENTENCES = [
  ['I can book you in for Monday at nine.', 'gmw/en-US+f3'],
  ['Guten Tag, wie kann ich helfen?', 'gmw/de+m1'],
  ['See you on Tuesday.', 'gmw/en+m3'],
  ['I can book you in for Monday at nine.', 'gmw/en-US+f3'],
] as const;

function speak(instance: EspeakInstance, text: string, name: string): Buffer {
  const pieces: Uint8Array[] = [];
  const voice = { name, wordsPerMinute: 170, gainDb: 0 };
  instance.speak({ text, voice, pauseAfterMs: 0 }, (bytes) => pieces.push(bytes.slice()));
  return Buffer.concat(pieces);
}

function phonemesOf(instance: EspeakInstance, text: string, voice: string): string {
  const pieces: Uint8Array[] = [];
  instance.write(phonemeArguments(voice), { text, voice }, (bytes) => pieces.push(bytes.slice()));
  return Buffer.concat(pieces).toString('utf8');
}

test('EspeakInstance says each sentence as an instance that has said nothing before it', async () => {
  const used = await EspeakInstance.make(espeak);

  for (const [text, voice] of SENTENCES) {
    const fresh = await EspeakInstance.make(espeak);

    const sound = speak(used, text, voice);

    expect(sound.length).toBeGreaterThan(20_000);
    expect(sound.equals(speak(fresh, text, voice))).toBe(true);
  }
});

test('EspeakInstance finds a voice by its name after it was asked for one by its file', async () => {
  const used = await EspeakInstance.make(espeak);
  const fresh = await EspeakInstance.make(espeak);
  speak(used, 'Hello.', 'gmw/de+f2');

  const phonemes = phonemesOf(used, 'Hello world', 'en-us');

  expect(phonemes).toMatch(/h.*w/);
  expect(phonemes).toBe(phonemesOf(fresh, 'Hello world', 'en-us'));
});

test('EspeakInstance speaks on as before after a text of minutes', async () => {
  const instance = await EspeakInstance.make(espeak);
  const before = speak(instance, 'Ready.', 'gmw/en-US+f3');
  const long = 'This is a very long sentence that goes on and on without an end. '.repeat(60);

  const sound = speak(instance, long, 'gmw/en-US+f3');

  expect(sound.length).toBeGreaterThan(1e6);
  expect(instance.isUsable).toBe(true);
  expect(speak(instance, 'Ready.', 'gmw/en-US+f3').equals(before)).toBe(true);
});
