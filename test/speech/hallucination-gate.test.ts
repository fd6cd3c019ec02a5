/** What is not believed of what a recogniser says it heard. */
import { expect, test } from 'vitest';
import { withoutHallucination } from '../../src/speech/stt/decoding/hallucination-gate.ts';
import type { Recognition } from '../../src/speech/stt/pool/recognizer.ts';

const HEARD: Recognition = {
  text: 'Thank you for watching.',
  words: [{ text: 'Thank', confidence: 0.9 }],
  confidence: 0.9,
  language: 'en',
  noSpeechProbability: 0.1,
  audioMs: 2000,
};

const digits = 'five five five one two zero zero zero zero seven seven one';

test.each([
  { why: 'sure words', part: {}, voice: { scoredMs: 1900, voicedMs: 900, clearMs: 1200 } },
  { why: 'no detector to ask', part: {}, voice: null },
  {
    why: 'too little scored to judge',
    part: {},
    voice: { scoredMs: 500, voicedMs: 0, clearMs: 0 },
  },
  { why: 'likely silence, but sure words', part: { noSpeechProbability: 0.9 }, voice: null },
  { why: 'unsure words, but likely speech', part: { confidence: 0.2 }, voice: null },
  { why: 'a telephone number', part: { text: digits }, voice: null },
  { why: 'words with a sound', part: { text: 'Yes. [laughter]' }, voice: null },
  { why: 'the digits of an area code', part: { text: '(202)' }, voice: null },
])('withoutHallucination believes $why', ({ part, voice }) => {
  const heard = { ...HEARD, ...part };

  expect(withoutHallucination(heard, voice)).toEqual(heard);
});

test.each([
  {
    why: 'unsure words in likely silence',
    part: { noSpeechProbability: 0.7, confidence: 0.4 },
    voice: null,
  },
  {
    why: 'words where no voice was',
    part: {},
    voice: { scoredMs: 1900, voicedMs: 32, clearMs: 60 },
  },
  { why: 'silence as whisper.cpp writes it', part: { text: ' [BLANK_AUDIO]' }, voice: null },
  { why: 'sounds', part: { text: '(music playing) *coughs* ♪' }, voice: null },
  { why: 'a circle', part: { text: 'and so on '.repeat(8) }, voice: null },
])('withoutHallucination empties $why', ({ part, voice }) => {
  const believed = withoutHallucination({ ...HEARD, ...part }, voice);

  expect(believed.text).toBe('');
  expect(believed.words).toEqual([]);
});

const VOICE = { scoredMs: 1900, voicedMs: 900, clearMs: 1200 };

test.each([
  ['no text', '', 1200],
  ['a circle', 'and so on '.repeat(8), 1200],
  ['the mark of whisper.cpp for no words', ' [BLANK_AUDIO]', 1200],
  ['a sound that has a name', '(music playing)', undefined],
  ['words', 'Yes, please.', undefined],
])('withoutHallucination says how much voice was without words: %s', (_, text, clearVoiceMs) => {
  const heard = withoutHallucination({ ...HEARD, text }, VOICE);

  expect(heard.clearVoiceMs).toBe(clearVoiceMs);
});

test('withoutHallucination says nothing of a voice where there is no detector', () => {
  expect(withoutHallucination({ ...HEARD, text: '' }, null)).not.toHaveProperty('clearVoiceMs');
});
