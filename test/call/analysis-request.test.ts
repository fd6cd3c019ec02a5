/** What a language model is shown of a call that is over, and how much of it. */
import { expect, test } from 'vitest';
import { analysisRequest, askForAnalysis } from '../../src/call/analysis/analysis-request.ts';
import { TRANSCRIPT_CHARS_MAX } from '../../src/call/analysis/model-question.ts';
import type { TranscriptEntry } from '../../src/domain/call/call.ts';
import type { LanguageModel } from '../../src/llm/language-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const OPTIONS = { intents: ['booking', 'other'], language: undefined } as const;

/** Utterances of these lengths; with "user: " before each and a line break behind, a line is 7 longer. */
const said = (lengths: readonly number[]): TranscriptEntry[] =>
  lengths.map((length, index) => ({
    ...{ role: 'user', at: new Date(0), confidence: 1 },
    text: String.fromCharCode(97 + (index % 26)).repeat(length),
  }));

function shown(transcript: readonly TranscriptEntry[]): string[] {
  const { messages } = analysisRequest(transcript, OPTIONS);
  return messages[1]?.content.split('\n').slice(1, -1) ?? [];
}

test('analysisRequest names the language of the summary where there is one', () => {
  const [none, german] = [undefined, 'de-DE'].map(
    (language) => analysisRequest([], { ...OPTIONS, language }).messages[0]?.content,
  );

  expect(none).not.toContain('in the language');
  expect(german).toContain('in the language "de-DE"');
});

test('analysisRequest lets the model answer with the four fields and nothing else', () => {
  expect(analysisRequest([], OPTIONS).schema).toMatchObject({
    additionalProperties: false,
    required: ['summary', 'sentiment', 'sentimentScore', 'intent'],
    properties: { intent: { enum: ['booking', 'other'] } },
  });
});

test('analysisRequest shows a call whole that just fits', () => {
  const transcript = said(Array(12).fill(TRANSCRIPT_CHARS_MAX / 12 - 7));

  expect(shown(transcript)).toHaveLength(12);
});

test('analysisRequest leaves out the middle of a call that is one character too long', () => {
  const transcript = said([...Array(11).fill(TRANSCRIPT_CHARS_MAX / 12 - 7), 994]);

  const lines = shown(transcript).map((line) => line.slice(0, 7));

  // Two fifths of the budget from the beginning, the rest from the end.
  expect(lines).toEqual([
    ...['user: a', 'user: b', 'user: c', 'user: d', '[…]'],
    ...['user: f', 'user: g', 'user: h', 'user: i', 'user: j', 'user: k', 'user: l'],
  ]);
});

test('analysisRequest fills its budget to the last character', () => {
  const exact = (TRANSCRIPT_CHARS_MAX * 0.4) / 4 - 7;
  const transcript = said([...Array(4).fill(exact), ...Array(20).fill(1193)]);

  const lines = shown(transcript);

  expect(lines.indexOf('[…]')).toBe(4);
  expect(lines).toHaveLength(4 + 1 + 6);
});

test.each([
  ['once more while there is time', 1, 2],
  ['no more when there is none', 0, 1],
])('askForAnalysis asks a model that answers rubbish %s', async (_, remainingMs, asked) => {
  let count = 0;
  const model: LanguageModel = {
    name: 'rubbish',
    async *stream() {
      count += 1;
      yield { kind: 'text', text: 'I would rather not.' };
    },
    check: () => Promise.resolve(),
  };
  const question = {
    ...{ transcript: [], ...OPTIONS, signal: new AbortController().signal },
    remainingMs: () => remainingMs,
  };

  const analysis = askForAnalysis({ model, clock: new FakeClock() }, question);

  await expect(analysis).rejects.toThrow();
  expect(count).toBe(asked);
});
