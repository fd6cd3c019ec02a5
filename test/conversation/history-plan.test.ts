/** What fits into a model's window, and how the part that does not is put to the model that sums it up. */
import { expect, test } from 'vitest';
import {
  charactersPerToken,
  lengthOf,
  lengthOfTools,
  roomFor,
  verbatimFrom,
} from '../../src/conversation/history/history-keeper.ts';
import {
  readSummary,
  SUMMARY_CHARS_MAX,
  summaryRequest,
} from '../../src/conversation/history/prompt.ts';
import { ANSWER_TOKENS_MAX, type ChatMessage } from '../../src/llm/language-model.ts';

const call = { id: 'a', name: 'book', arguments: { day: 'Monday' } };
const agent: ChatMessage = { role: 'assistant', content: 'agent' };
const caller: ChatMessage = { role: 'user', content: 'caller' };
const booking: ChatMessage = { role: 'assistant', content: '', toolCalls: [call] };
const result: ChatMessage = { role: 'tool', toolCallId: 'a', name: 'book', content: 'Done.' };

test.each([
  ['words, and what templates put around them', [caller], 6 + 20],
  ['an agent without tools', [agent, caller], 5 + 6 + 40],
  ['a tool call, as JSON', [booking], JSON.stringify([call]).length + 20],
  ['an empty list of calls as nothing', [{ ...agent, toolCalls: [] } as const], 5 + 20],
])('lengthOf counts %s', (_, messages, expected) => {
  expect(lengthOf(messages)).toBe(expected);
});

test('lengthOfTools is that of their JSON, and nothing without any', () => {
  const tool = { name: 'book', description: 'Books.', parameters: {} };

  expect([lengthOfTools([]), lengthOfTools([tool])]).toEqual([0, JSON.stringify([tool]).length]);
});

test.each([
  [300, 100, 3],
  [900, 100, 4],
  [50, 100, 1],
])('charactersPerToken of %d characters in %d tokens is %d', (characters, tokens, expected) => {
  expect(charactersPerToken(characters, tokens)).toBe(expected);
});

test('roomFor leaves room for the answer and the tools', () => {
  const { max, summariseAt, verbatimMax } = roomFor(ANSWER_TOKENS_MAX + 1000, 200, 3);

  expect([max, summariseAt, verbatimMax]).toEqual([2800, 2800 * 0.7, 700]);
});

test('roomFor has none where the tools fill the window', () => {
  expect(roomFor(ANSWER_TOKENS_MAX + 10, 200, 3)).toEqual({
    ...{ max: 0, summariseAt: 0, verbatimMax: 0 },
  });
});

test.each<[string, readonly ChatMessage[], number, number]>([
  ['all of six messages, however long', [caller, agent, caller, agent, caller, agent], 0, 0],
  ['the last six and no more', [agent, caller, agent, caller, agent, caller, agent, caller], 0, 2],
  [
    'as much more as fits exactly',
    [agent, caller, agent, caller, agent, caller, agent, caller],
    lengthOf([caller, agent, caller, agent, caller, agent, caller]),
    2,
  ],
  [
    'the agent’s words that fit',
    [caller, agent, caller, agent, caller, agent, caller, agent],
    lengthOf([agent, caller, agent, caller, agent, caller, agent]),
    1,
  ],
  [
    'the caller’s words where the agent has none',
    [caller, caller, caller, caller, caller, caller, caller, caller],
    0,
    2,
  ],
  [
    'a call together with its result',
    [agent, caller, booking, result, agent, caller, booking, result, booking, result],
    0,
    4,
  ],
  [
    'what comes before, where six messages hold no good place to begin',
    [caller, agent, booking, result, booking, result, booking, result],
    0,
    1,
  ],
])('verbatimFrom keeps %s', (_, messages, verbatimMax, expected) => {
  expect(verbatimFrom(messages, verbatimMax)).toBe(expected);
});

test('readSummary cuts what is longer than a summary may be, and nothing else', () => {
  const longest = 'a'.repeat(SUMMARY_CHARS_MAX);

  expect(readSummary(longest)).toBe(longest);
  expect(readSummary(`${longest}b`)).toBe(`${'a'.repeat(SUMMARY_CHARS_MAX - 1)}…`);
});

test.each([
  [100, ['Caller: caller', 'Agent: agent', 'Caller: caller']],
  [15 + 13 + 15, ['Caller: caller', 'Agent: agent', 'Caller: caller']],
  [15 + 13 + 14, ['Agent: agent', 'Caller: caller']],
  [15, ['Caller: caller']],
  [14, []],
])('summaryRequest of at most %d characters shows the newest lines', (lengthMax, expected) => {
  const [, shown] = summaryRequest('', [caller, agent, caller], lengthMax);

  expect(shown?.content.split('\n')).toEqual(['#####', ...expected, '#####']);
});
