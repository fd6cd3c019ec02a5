import { describe, expect, test } from 'vitest';
import { languageOf } from '../../src/lib/language-tag.ts';
import {
  babbleOf,
  onTheLine,
  REFERENCE_SENTENCES,
  REFERENCE_VOICES,
} from '../../src/speech/self-test/reference-sentences.ts';
import {
  callsByProcessorTime,
  type RecognizerResult,
  type SelfTestReport,
  type VoiceResult,
  verdictsOf,
  withoutPaths,
} from '../../src/speech/self-test/self-test-report.ts';

const VOICE: VoiceResult = {
  ...{ engine: 'piper', version: '1', voices: [], sentences: 1, planned: 1, audioSeconds: 1 },
  ...{ firstSoundMs: [100, 200, 300], realTimeFactor: 0.1, failure: null },
};

const RECOGNIZER: RecognizerResult = {
  ...{ engine: 'whisper', model: 'whisper-base', sentences: 1, planned: 1, failure: null },
  heard: [
    { voices: 'piper', language: 'en', line: 'clean', sentences: 1, words: 100, errors: 10 },
    { voices: 'piper', language: 'de', line: 'clean', sentences: 1, words: 100, errors: 90 },
  ],
  ...{ answerMs: [400], realTimeFactor: 0.2 },
};

function reportOf(parts: {
  readonly voice?: Partial<VoiceResult>;
  readonly recognizer?: Partial<RecognizerResult>;
  readonly cores?: number;
}): SelfTestReport {
  const machine = { offhook: '0', node: '24', platform: 'linux x64', memoryGb: 4, processes: 2 };
  return {
    machine: { ...machine, cores: parts.cores ?? 2, threads: 1 },
    voices: [{ ...VOICE, ...parts.voice }],
    recognizers: [{ ...RECOGNIZER, ...parts.recognizer }],
    estimates: { list: [], failure: null },
    ...{ languageModel: null, tookSeconds: 1 },
  };
}

describe('verdictsOf', () => {
  test.each([
    ['engines that are quick', {}, ['ok', 'ok']],
    ['a voice that begins late', { voice: { firstSoundMs: [1900] } }, ['too slow', 'ok']],
    ['a voice slower than speech', { voice: { realTimeFactor: 1.4 } }, ['too slow', 'ok']],
    ['a recogniser that takes long', { recognizer: { answerMs: [900] } }, ['ok', 'too slow']],
    ['a voice that failed', { voice: { failure: 'it ended' } }, ['failed', 'ok']],
    ['a voice of another language', { voice: { planned: 0 } }, ['not tried', 'ok']],
    ['a recogniser without a sentence', { recognizer: { heard: [] } }, ['ok', 'not tried']],
    [
      'a recogniser that understands nothing',
      { recognizer: { heard: RECOGNIZER.heard.slice(1) } },
      ['ok', 'failed'],
    ],
  ])('says of %s', (_case, parts, kinds) => {
    expect(verdictsOf(reportOf(parts)).map(({ kind }) => kind)).toEqual(kinds);
  });
});

test('callsByProcessorTime falls with slower engines, grows with cores, and passes over what failed', () => {
  const calls = callsByProcessorTime(reportOf({}));

  expect(calls).toBe(6);
  expect(callsByProcessorTime(reportOf({ cores: 8 }))).toBeGreaterThan(3 * calls);
  expect(callsByProcessorTime(reportOf({ recognizer: { realTimeFactor: 2 } }))).toBeLessThan(calls);
  expect(callsByProcessorTime(reportOf({ voice: { failure: 'no', realTimeFactor: 9 } }))).toBe(8);
});

test('Every reference voice has sentences of its language, and English has forty', () => {
  const languages = REFERENCE_VOICES.map(({ language }) => languageOf(language));

  expect(new Set(languages)).toEqual(new Set(Object.keys(REFERENCE_SENTENCES)));
  expect(new Set(REFERENCE_SENTENCES.en).size).toBe(40);
});

test('onTheLine adds talk 10 dB below the voice', () => {
  const tone = (hz: number, peak: number) =>
    Int16Array.from({ length: 8000 }, (_, n) => peak * Math.sin((2 * Math.PI * hz * n) / 8000));
  const babble = babbleOf([300, 450, 600, 750, 900, 1050].map((hz) => tone(hz, 9000)));
  const voice = tone(1700, 8000);

  const clean = onTheLine(voice);
  const noisy = onTheLine(voice, babble);

  const power = (pcm: Int16Array) => pcm.reduce((sum, one) => sum + one * one, 0) / pcm.length;
  const talk = noisy.map((sample, at) => sample - (clean[at] ?? 0));
  // The silence at both ends has talk too, and no voice.
  const voiced = clean.subarray(2400, 10_400);
  expect(10 * Math.log10(power(voiced) / power(talk))).toBeCloseTo(10, 0);
});

test('babbleOf needs six talkers', () => {
  expect(babbleOf([new Int16Array(8000)])).toBeUndefined();
});

describe('withoutPaths', () => {
  test('names no folder and no server, and keeps the address of this machine', () => {
    const failure = 'cannot read /home/ana/offhook/models/a.onnx, nor http://10.0.0.7:8080/v1';
    const report = reportOf({ voice: { failure, engine: 'http://127.0.0.1:9000' } });

    const shared = withoutPaths(report, {
      '/home/ana': '~',
      '/home/ana/offhook/models': 'MODELS_DIR',
    });

    expect(shared.voices[0]?.failure).toBe('cannot read MODELS_DIR/a.onnx, nor http://…/v1');
    expect(shared.voices[0]?.engine).toBe('http://127.0.0.1:9000');
  });
});
