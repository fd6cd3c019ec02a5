/** Where words, levels and pieces of text are told apart: the values at which one becomes the other. */
import { expect, test } from 'vitest';
import { messagesFor } from '../../src/conversation/history/prompt.ts';
import { ClauseSplitter } from '../../src/conversation/reply/clause-splitter.ts';
import {
  isCourtesy,
  LEVEL_UNKNOWN,
  learnLevel,
  overUsualDb,
  weighOverlap,
} from '../../src/conversation/turn/backchannel.ts';
import { openTurns } from './support/turns.ts';

const VOICE = { text: 'Okay.', confidence: 1, voicedMs: 400, longMs: 800, overUsualDb: 0 };
test.each([
  ['backchannel', { voicedMs: 1200 }],
  ['claim', { voicedMs: 1201 }],
  ['courtesy', { text: 'Thank you.', voicedMs: 800 }],
  ['claim', { text: 'Thank you.', voicedMs: 801 }],
  ['murmur', { text: 'Them.', voicedMs: 800, confidence: 0.89 }],
  ['claim', { text: 'Them.', voicedMs: 801, confidence: 0.89 }],
  ['claim', { text: 'Them.', voicedMs: 800, confidence: 0.9 }],
  ['murmur', { text: 'Them.', overUsualDb: -3, confidence: 0.95 }],
  ['claim', { text: 'Them.', overUsualDb: -3, confidence: 0.97 }],
  ['claim', { text: 'Them.', overUsualDb: -9, confidence: 0.98 }],
  ['claim', { text: 'Stop.', overUsualDb: -9, confidence: 0.8 }],
  ['murmur', { text: 'Stop.', confidence: 0.79 }],
])('weighOverlap draws the line of a %s at %j', (expected, voice) => {
  expect(weighOverlap({ ...VOICE, ...voice })).toBe(expected);
});

test.each([
  ['Thank you very much.', true],
  ['Thank you very much too.', false],
  ['', false],
])('isCourtesy of "%s" is %s', (text, expected) => {
  expect(isCourtesy(text)).toBe(expected);
});

test('learnLevel learns nothing from a voice without length', () => {
  expect(learnLevel(LEVEL_UNKNOWN, { levelDbfs: -20, voicedMs: 0 })).toEqual(LEVEL_UNKNOWN);
});

test('overUsualDb knows the usual level after 1.5 s of voice', () => {
  const word = { levelDbfs: -10, voicedMs: 300 };

  expect(overUsualDb({ levelDbfs: -30, voicedMs: 1499 }, word)).toBe(0);
  expect(overUsualDb({ levelDbfs: -30, voicedMs: 1500 }, word)).toBe(20);
});

test.each([
  ['a first clause of twelve characters', 'Hello there, x', ['Hello there,']],
  ['no first clause of eleven', 'Hello here, x', []],
  ['a sentence that ends in a number', 'The room is number 12. Please', ['The room is number 12.']],
  ['no number of a list item', '12. Please', []],
  ['no text of 240 characters', 'a'.repeat(240), []],
  ['a text of 241 characters without a blank', 'a'.repeat(241), ['a'.repeat(240)]],
  ['at a mark after 240 characters', `${'a'.repeat(239)}. B`, [`${'a'.repeat(239)}.`]],
])('ClauseSplitter gives out %s', (_, text, expected) => {
  expect(new ClauseSplitter().push(text)).toEqual(expected);
});

test('ClauseSplitter gives out what is left once', () => {
  const splitter = new ClauseSplitter();
  splitter.push('and then');

  expect([splitter.flush(), splitter.flush()]).toEqual([['and then'], []]);
});

test('messagesFor keeps two tools’ calls and results apart', () => {
  const call = { id: 'a', name: 'book', arguments: {} };
  const result = { role: 'tool', toolCallId: 'a', name: 'book', content: 'Done.' } as const;
  const calling = { role: 'assistant', content: '', toolCalls: [call] } as const;
  const { rules } = openTurns().state();

  const messages = messagesFor(rules, [calling, calling, result, result]);

  expect(messages.slice(1)).toEqual([calling, calling, result, result]);
});
