/** Versions of agents, the written conversation, and the rows of the form. */
import { expect, test } from 'vitest';
import { differencesOf, fieldOf } from '../../src/dashboard/agent/agent-changes.ts';
import {
  isNumberFreed,
  NEW_AGENT,
  withoutEmptyRows,
} from '../../src/dashboard/agent/agent-draft.ts';
import {
  callText,
  chatBegun,
  LETTERS_MAX,
  MESSAGES_MAX,
  messagesOf,
  stagesOf,
  withAnswer,
  withWords,
} from '../../src/dashboard/agent/chat-log.ts';
import type { AgentContent } from '../../src/dashboard/api-types.ts';

const WORDS = {
  yes: 'yes',
  no: 'no',
  none: '–',
  toolOf: (tool: string) => `<${tool}>`,
  responsivenessOf: (each: string) => each,
  voicemailOf: (each: string) => each,
};

const AGENT: AgentContent = {
  name: 'Reception',
  greeting: 'Hello',
  systemPrompt: 'You answer.',
  voice: 'en-US-JennyNeural',
  language: 'en-US',
  phoneNumber: null,
  tools: [],
  responsiveness: 'balanced',
  model: null,
  smsGateway: null,
  calendar: null,
  extract: null,
  successCriteria: null,
  settings: {
    maxDurationSeconds: 600,
    silenceTimeoutSeconds: 10,
    interruptible: true,
    transferTargets: [],
    afterTransfer: 'end',
    transferAcceptance: true,
    pronunciations: [],
    voicemail: { action: 'continue', message: null },
  },
  status: 'active',
};

test('differencesOf names the fields that differ, with their values in words', () => {
  const after: AgentContent = {
    ...AGENT,
    greeting: 'Hi',
    tools: ['end_call'],
    model: 'small:1b',
    status: 'paused',
    settings: {
      ...AGENT.settings,
      interruptible: false,
      afterTransfer: 'return',
      transferAcceptance: false,
      pronunciations: [{ written: 'Nguyen', spoken: 'nwin' }],
    },
  };

  expect(differencesOf(AGENT, after, WORDS)).toEqual([
    { field: 'greeting', before: 'Hello', after: 'Hi' },
    { field: 'tools', before: '–', after: '<end_call>' },
    { field: 'afterTransfer', before: 'no', after: 'yes' },
    { field: 'transferAcceptance', before: 'yes', after: 'no' },
    { field: 'pronunciations', before: '–', after: 'Nguyen → nwin' },
    { field: 'interruptible', before: 'yes', after: 'no' },
    { field: 'model', before: '–', after: 'small:1b' },
  ]);
});

test('differencesOf an agent and itself is nothing', () => {
  expect(differencesOf(AGENT, { ...AGENT }, WORDS)).toEqual([]);
});

test('fieldOf is the field’s own name, wherever it is', () => {
  expect(['greeting', 'settings.interruptible'].map(fieldOf)).toEqual([
    'greeting',
    'interruptible',
  ]);
});

test('withoutEmptyRows drops rows that nothing was written in, and keeps half of one', () => {
  const halves = [
    { written: 'Nguyen', spoken: '' },
    { written: '', spoken: 'nwin' },
  ];
  const draft = { ...NEW_AGENT, pronunciations: [{ written: ' ', spoken: '' }, ...halves] };

  expect(withoutEmptyRows(draft).pronunciations).toEqual(halves);
  expect(withoutEmptyRows(NEW_AGENT)).toBe(NEW_AGENT);
});

test.each([
  ['taken out', '+12025550123', ' ', true],
  ['kept', '+12025550123', '+12025550123', false],
  ['changed', '+12025550123', '+12025550124', false],
  ['put in', null, '+12025550123', false],
  ['never there', null, '', false],
])('isNumberFreed knows of a number %s', (_, before, phoneNumber, expected) => {
  const begun = { ...NEW_AGENT, phoneNumber: before ?? '' };

  expect(isNumberFreed({ ...NEW_AGENT, phoneNumber }, begun)).toBe(expected);
});

test('messagesOf sends the spoken messages, without an agent’s empty text next to tool calls', () => {
  const tool = { name: 'end_call', arguments: {}, ran: false } as const;
  const asked = withWords(chatBegun('Hello'), 'Goodbye.');
  const log = withAnswer(asked, {
    reply: '',
    toolCalls: [tool],
    model: 'tiny',
    promptUsed: false,
    preparedMs: 1,
    firstTokenMs: 8,
    tookMs: 12,
  });

  expect(messagesOf(log)).toEqual([
    { role: 'agent', text: 'Hello' },
    { role: 'user', text: 'Goodbye.' },
  ]);
  expect(log.at(-1)).toMatchObject({ toolCalls: [tool], model: 'tiny', promptUsed: false });
});

test('messagesOf sends no more than the server takes, the newest', () => {
  const words = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(LETTERS_MAX)}`);

  const sent = messagesOf(words.reduce(withWords, chatBegun('Hello')));

  expect(sent).toHaveLength(MESSAGES_MAX);
  expect(sent.at(-1)?.text.slice(0, 3)).toBe('59 ');
  expect(sent.every(({ text }) => text.length <= LETTERS_MAX)).toBe(true);
});

test.each([
  [{ day: 'Monday', hour: 9 }, 'book(day: "Monday", hour: 9)'],
  [{}, 'book()'],
])('callText of %o', (given, text) => {
  expect(callText({ name: 'book', arguments: given, ran: false })).toBe(text);
});

test('stagesOf lays what an answer took one after the other', () => {
  expect(stagesOf({ preparedMs: 5, firstTokenMs: 80, tookMs: 200 })).toEqual([
    { name: 'prepared', fromMs: 0, toMs: 5 },
    { name: 'firstToken', fromMs: 5, toMs: 80 },
    { name: 'restOfAnswer', fromMs: 80, toMs: 200 },
  ]);
});
