/** When words were said: by attention where the model tells, by letters where not. */
import { expect, test } from 'vitest';
import { agreedWords, tokenStarts, wordsOf } from '../../src/speech/stt/decoding/word-times.ts';
import { openRecognizer } from '../../src/speech/stt/whisper/whisper-recognizer.ts';
import { VoicedSpan } from '../../src/speech/vad/vad-gate.ts';
import { phraseSaying, TINY_WHISPER_DIR } from './spoken-phrases.ts';

/** A token that listens to some steps of ten and hardly to others. */
function listening(from: number, to: number): Float32Array {
  return Float32Array.from({ length: 40 }, (_, step) => (step >= from && step < to ? 0.9 : 0.01));
}

const WORDS = ['a', 'bcd', 'efghi'];
const tokenizer = {
  startsWord: (id: number) => id < 100,
  decode: (ids: readonly number[]) => ids.map((id) => ` ${WORDS[id % 100]}`).join(''),
};
const token = (id: number, logProbability = 0) => ({ id, logProbability });
const voiced = { startMs: 0, endMs: 800 };

test('tokenStarts follows the attention from token to token', () => {
  const rows = [listening(0, 10), listening(10, 25), listening(25, 40)];

  expect(tokenStarts(rows, 1, voiced)).toEqual([0, 200, 500, 800]);
});

test('tokenStarts looks no further than the voice', () => {
  const rows = [listening(0, 20), listening(20, 40)];

  const starts = tokenStarts(rows, 1, { startMs: 200, endMs: 600 });

  expect(starts).toEqual([200, 400, 600]);
});

test('tokenStarts listens to all heads', () => {
  const both = (one: Float32Array, other: Float32Array) => Float32Array.from([...one, ...other]);
  const deaf = new Float32Array(40).fill(0.5);
  const rows = [both(deaf, listening(0, 30)), both(deaf, listening(30, 40))];

  expect(tokenStarts(rows, 2, voiced)).toEqual([0, 600, 800]);
});

test.each([
  { rows: [], span: voiced, starts: [800] },
  { rows: [new Float32Array(0)], span: voiced, starts: [0, 800] },
  { rows: [listening(0, 5)], span: { startMs: 0, endMs: 0 }, starts: [0, 0] },
])('tokenStarts makes do with nothing ($starts)', ({ rows, span, starts }) => {
  expect(tokenStarts(rows, 1, span)).toEqual(starts);
});

test('wordsOf joins tokens to words with the times of their tokens and the lowest confidence', () => {
  const times = { kind: 'tokens', startsMs: [100, 300, 500, 900] } as const;

  const words = wordsOf(tokenizer, [token(0), token(101, Math.log(0.5)), token(2)], times);

  expect(words).toEqual([
    { text: 'a bcd', confidence: 0.5, startMs: 100, endMs: 500 },
    { text: 'efghi', confidence: 1, startMs: 500, endMs: 900 },
  ]);
});

test('wordsOf shares a stretch out by letters', () => {
  const times = { kind: 'span', startMs: 100, endMs: 1300 } as const;

  const words = wordsOf(tokenizer, [token(0), token(1), token(2)], times);

  expect(words.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
    [100, 300],
    [300, 700],
    [700, 1300],
  ]);
});

test('agreedWords counts equal words at the start, whatever their case and punctuation', () => {
  const words = ['I', 'would', 'like.'].map((text) => ({ text, confidence: 1 }));
  const others = ['i', 'would,', 'like', 'to'].map((text) => ({ text, confidence: 1 }));

  expect(agreedWords(words, others)).toBe(3);
  expect(agreedWords(others, words)).toBe(3);
  expect(agreedWords(words, [])).toBe(0);
});

test('VoicedSpan finds the loud stretch', () => {
  const span = new VoicedSpan();

  span.push(new Int16Array(1600).fill(20));
  span.push(new Int16Array(3200).fill(8000));
  span.push(new Int16Array(1600).fill(20));

  expect(span.span).toEqual({ startMs: 200, endMs: 600 });
});

test('VoicedSpan takes all of what is equally silent', () => {
  const span = new VoicedSpan();

  span.push(new Int16Array(800));

  expect(span.span).toEqual({ startMs: 0, endMs: 100 });
});

test('openRecognizer tells when each word was said', async () => {
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  const utterance = recognizer.open({ language: 'en' });
  utterance.push(phraseSaying("Can I come on Monday at nine o'clock?"));

  const { words } = await utterance.transcribe({
    isFinal: true,
    signal: new AbortController().signal,
  });
  await recognizer.close();

  const bounds = words.flatMap(({ startMs = -1, endMs = -1 }) => [startMs, endMs]);
  expect(bounds).toEqual(bounds.toSorted((one, other) => one - other));
  // Measured by listening: 300 ms of silence, "Monday" about one second in, the end after two.
  expect(words[4]?.startMs).toBeGreaterThan(850);
  expect(words[4]?.endMs).toBeLessThan(1450);
  expect(bounds.at(-1)).toBeLessThan(2300);
});
