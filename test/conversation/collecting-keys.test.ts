/** Keys and the turn machine, where the agent has a tool that takes keys. */
import { expect, test } from 'vitest';
import { ask, hearWhole, kindsOf, openTurns, saidBy, think } from './support/turns.ts';

const COLLECT = { id: 'c1', name: 'collect_digits', arguments: { name: 'card' } };

const isCollect = ({ name }: { readonly name: string }) => name === 'collect_digits';

/** The agent asks for keys, which the call of the tool is to take, and has been heard in part. */
function whileAsking() {
  const turns = openTurns({ takesKeys: isCollect, hasKeypad: true, isAfterWords: isCollect });
  ask(turns, 3000);
  const reply = turns.replyId();
  turns.take(3100, { kind: 'clause', reply, text: 'Please type your card number.' });
  turns.take(3100, { kind: 'tool-called', reply, call: COLLECT });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 2000, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });
  return turns;
}

test('a key pressed while the agent still asks is for the tool, which runs at once', () => {
  const turns = whileAsking();

  const effects = turns.take(4200, { kind: 'digit', digit: '4' });

  expect(effects).toContainEqual({ kind: 'type-ahead', key: '4' });
  expect(
    kindsOf(effects).filter((kind) => ['type-ahead', 'drop', 'run-tool'].includes(kind)),
  ).toEqual(['type-ahead', 'drop', 'run-tool']);
  expect(saidBy(effects).join()).not.toContain('pressed');
});

test('a key pressed while the tool is about to take keys is kept for it', () => {
  const turns = whileAsking();
  turns.take(4200, { kind: 'digit', digit: '4' });

  expect(turns.take(4201, { kind: 'digit', digit: '1' })).toEqual([
    { kind: 'type-ahead', key: '1' },
  ]);
});

test('a voice over the question is forgotten when the tool begins: it may be saying the number', () => {
  const turns = whileAsking();
  turns.take(4900, { kind: 'voice-started', voicedAtMs: 4900 });

  const reply = turns.replyId();
  const effects = turns.take(5200, {
    ...{ kind: 'playout-finished', reply, playedMs: 2000, isComplete: true },
  });

  expect(kindsOf(effects)).toEqual(expect.arrayContaining(['stop-listening', 'run-tool']));
  expect(turns.state().utterance).toBeNull();
});

function pressAll(turns: ReturnType<typeof openTurns>, keys: string): void {
  for (const [index, digit] of [...keys].entries()) {
    turns.take(2000 + index * 200, { kind: 'digit', digit });
  }
}

test.each([
  ['123456', '(pressed 1 2 3 4 5 6)'],
  ['1234567', '(pressed 7 keys, not shown: use collect_digits for such a number)'],
])('keys %s that no tool has asked for are told as "%s"', (keys, expected) => {
  const turns = openTurns({ hasKeypad: true });
  pressAll(turns, keys);

  const effects = turns.take(6000, { kind: 'timer', timer: 'digits' });

  expect(saidBy(effects)).toEqual([expected]);
  expect(JSON.stringify(turns.state().history)).toContain(expected);
});

test('an agent without such a tool is told all keys', () => {
  const turns = openTurns();
  pressAll(turns, '1234567');

  expect(saidBy(turns.take(6000, { kind: 'timer', timer: 'digits' }))).toEqual([
    '(pressed 1 2 3 4 5 6 7)',
  ]);
});

test('a model that asks for keys without a word: the agent asks in a set phrase', () => {
  const turns = openTurns({ takesKeys: isCollect, hasKeypad: true, isAfterWords: isCollect });
  ask(turns, 3000);
  turns.take(3100, { kind: 'tool-called', reply: turns.replyId(), call: COLLECT });
  think(turns, 3100);

  expect(turns.state().reply?.pieces.map(({ text }) => text)).toEqual([
    'Please type it on your keypad, and press the hash key at the end.',
  ]);
  hearWhole(turns, 3200, 5000);
  expect(turns.state().reply?.isToolRunning).toBe(true);
});

test('a model that presses keys without a word: nothing is said, and they are pressed', () => {
  const isAfterWords = ({ name }: { readonly name: string }) => name === 'send_digits';
  const turns = openTurns({ isAfterWords, needsSureWords: () => false });
  ask(turns, 3000);
  const call = { id: 'c2', name: 'send_digits', arguments: { digits: '1' } };
  turns.take(3100, { kind: 'tool-called', reply: turns.replyId(), call });

  const effects = turns.take(3100, { kind: 'model-finished', reply: turns.replyId() });

  expect(kindsOf(effects)).toContain('run-tool');
  expect(turns.state().reply?.pieces).toEqual([]);
});
