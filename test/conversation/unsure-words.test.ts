/** Words of low confidence: the confirmation before a tool runs, and the answers that count as "yes". */
import { expect, test } from 'vitest';
import type { TurnEffect } from '../../src/conversation/turn/turn-event.ts';
import { isAgreement } from '../../src/conversation/turn/unsure-words.ts';
import { ask, openTurns, PHRASES, startTurns, think } from './support/turns.ts';

type Turns = ReturnType<typeof openTurns>;

/** The caller says this, and the model answers with words and a call. */
function turnOf(
  turns: Turns,
  said: { readonly text: string; readonly confidence: number; readonly atMs: number },
  answer: { readonly text?: string; readonly tool: string },
): readonly TurnEffect[] {
  const { text, confidence, atMs } = said;
  const effects: TurnEffect[] = [];
  const take = (at: number, event: Parameters<Turns['take']>[1]) => {
    effects.push(...turns.take(at, event));
  };
  take(atMs, { kind: 'voice-started', voicedAtMs: atMs });
  take(atMs + 500, { kind: 'voice-stopped', lastVoicedAtMs: atMs + 500 });
  const attempt = turns.state().utterance?.attempt ?? 0;
  take(atMs + 500, { kind: 'transcribed', attempt, text, confidence });
  const reply = turns.replyId();
  if (answer.text !== undefined) {
    take(atMs + 600, { kind: 'clause', reply, text: answer.text });
  }
  const call = { id: 'c1', name: answer.tool, arguments: {} };
  take(atMs + 600, { kind: 'tool-called', reply, call });
  take(atMs + 600, { kind: 'model-finished', reply });
  take(atMs + 2500, { kind: 'timer', timer: 'end-of-turn' });
  return effects;
}

const voiced = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'voice' ? [effect.text] : []));

const tools = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'run-tool' ? [effect.call.name] : []));

test.each(
  Object.entries(PHRASES.confirmations),
)('%s on unsure words is asked about', (tool, asks) => {
  const turns = openTurns();

  const effects = turnOf(
    turns,
    { text: 'No.', confidence: 0.5, atMs: 1000 },
    { text: 'Fine.', tool },
  );

  expect([voiced(effects), tools(effects)]).toEqual([[asks], []]);
});

/** The agent is in the middle of what it says. */
function speaking(turns: Turns, atMs: number): Turns {
  const reply = turns.replyId();
  turns.take(atMs, { kind: 'voiced', reply, clause: 0, audioMs: 20_000, isWhole: true });
  turns.take(atMs, { kind: 'playout-started', reply, startedAtMs: atMs });
  return turns;
}

/** The agent is in the middle of an answer. */
function answering(): Turns {
  const turns = openTurns();
  ask(turns, 3000);
  think(turns, 3100, 'We are open on every day of the week.');
  return speaking(turns, 3200);
}

test.each([
  ['in mid-answer', answering, PHRASES.confirmations.end_call],
  ['over the greeting', () => speaking(startTurns(), 100), undefined],
])('end_call after one word that is sure and cuts the agent off %s', (_when, begun, asks) => {
  const said = { text: 'Goodbye.', confidence: 0.96, atMs: 5000 };

  const effects = turnOf(begun(), said, { tool: 'end_call' });

  expect(voiced(effects)).toEqual(asks === undefined ? [] : [asks]);
  expect(tools(effects)).toEqual(asks === undefined ? ['end_call'] : []);
});

test('a booking on sure words is made at once', () => {
  const turns = openTurns();
  const said = { text: 'Tomorrow at nine, please.', confidence: 0.9, atMs: 1000 };

  const effects = turnOf(turns, said, { text: 'Fine.', tool: 'book_appointment' });

  expect([voiced(effects), tools(effects)]).toEqual([['Fine.'], ['book_appointment']]);
});

test('what the model insists on after the question is done, however unsure the answer is', () => {
  const turns = openTurns();
  const tool = 'book_appointment';
  turnOf(turns, { text: 'Tomorrow.', confidence: 0.5, atMs: 1000 }, { tool });
  turns.take(6000, {
    kind: 'playout-finished',
    ...{ reply: turns.replyId(), playedMs: 2000, isComplete: true },
  });

  const effects = turnOf(turns, { text: 'At nine.', confidence: 0.5, atMs: 7000 }, { tool });

  expect(tools(effects)).toEqual([tool]);
});

test('a question two turns ago allows nothing', () => {
  const turns = openTurns();
  const tool = 'book_appointment';
  const heard = (atMs: number) =>
    turns.take(atMs, {
      kind: 'playout-finished',
      ...{ reply: turns.replyId(), playedMs: 2000, isComplete: true },
    });
  turnOf(turns, { text: 'Tomorrow.', confidence: 0.5, atMs: 1000 }, { tool });
  heard(6000);
  turnOf(turns, { text: 'What?', confidence: 0.9, atMs: 7000 }, { text: 'Well.', tool: 'look_up' });
  heard(12_000);

  const effects = turnOf(turns, { text: 'Yes.', confidence: 0.5, atMs: 13_000 }, { tool });

  expect(tools(effects)).not.toContain(tool);
});

test.each([
  ['Yes.', true],
  ['Yes, please do it.', true],
  ['Ja, genau.', true],
  ['Sí, por favor.', true],
  ["Oui, s'il vous plaît.", true],
  ['Thank you.', false],
  ['Please.', false],
  ['Yes, but tomorrow.', false],
  ['No.', false],
  ['', false],
])('isAgreement(%j) is %s', (text, expected) => {
  expect(isAgreement(text)).toBe(expected);
});
