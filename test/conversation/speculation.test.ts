/** Answers begun before the caller's turn is over, and models that go on calling tools. */
import { expect, test } from 'vitest';
import { phrasesFor } from '../../src/conversation/reply/phrases.ts';
import type { TurnEffect, TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { takeTurnEvent } from '../../src/conversation/turn/turn-machine.ts';
import { DEFAULT_TIMING, type TurnRules } from '../../src/conversation/turn/turn-rules.ts';
import { openState, type TurnState } from '../../src/conversation/turn/turn-state.ts';
import { calls } from './support/fake-parts.ts';
import { BRIEF, layTable } from './support/table.ts';

const RULES: TurnRules = {
  ...{ brief: BRIEF, phrases: phrasesFor('en'), timing: DEFAULT_TIMING, maySpeculate: true },
  ...{
    turnTrust: 1,
    country: 'US',
    isAfterWords: () => false,
    needsSureWords: () => false,
    startedAt: new Date(0),
  },
};

/** A conversation in which an answer to "What are your hours?" is being prepared, and the caller is silent. */
function speculating(): TurnState {
  const events: readonly (TurnEvent & { readonly atMs: number })[] = [
    { kind: 'started', atMs: 0 },
    { kind: 'playout-started', reply: 1, startedAtMs: 100, atMs: 100 },
    { kind: 'playout-finished', reply: 1, playedMs: 400, isComplete: true, atMs: 500 },
    { kind: 'voice-started', voicedAtMs: 1000, atMs: 1000 },
    { kind: 'voice-stopped', lastVoicedAtMs: 2000, atMs: 2000 },
    { kind: 'transcribed', attempt: 1, text: 'What are your hours', confidence: 1, atMs: 2010 },
  ];
  return events.reduce((state, event) => takeTurnEvent(state, event).state, openState(RULES));
}

/** The turn ends with these words; the effects of that. */
function endWith(text: string): {
  readonly effects: readonly TurnEffect[];
  readonly ahead: number;
} {
  const state = speculating();
  const { reply, utterance } = state;
  if (reply?.stage !== 'speculative' || utterance === null)
    throw new Error('Expected a speculation');
  const words = { text, confidence: 1, atMs: 2010 };
  const heard = { ...state, utterance: { ...utterance, words } };
  const { effects } = takeTurnEvent(heard, { kind: 'timer', timer: 'end-of-turn', atMs: 4000 });
  return { effects, ahead: reply.id };
}

test('an answer prepared ahead is heard when the words are the same but for case and punctuation', () => {
  const { effects, ahead } = endWith('what are your hours?');

  expect(effects).toContainEqual({ kind: 'release', reply: ahead });
  expect(effects.filter(({ kind }) => kind === 'ask' || kind === 'drop')).toEqual([]);
});

test('an answer prepared ahead is dropped when the words were others, and the model is asked again', () => {
  const { effects, ahead } = endWith('What is your address?');

  expect(effects).toContainEqual({ kind: 'drop', reply: ahead });
  expect(effects.filter(({ kind }) => kind === 'release')).not.toContainEqual(
    expect.objectContaining({ reply: ahead }),
  );
  const asked = effects.find((effect) => effect.kind === 'ask');
  expect(asked?.messages.at(-1)).toMatchObject({ role: 'user', content: 'What is your address?' });
});

test('a pause of the playout that comes while the agent may not be interrupted is ended at once', () => {
  const rules = { ...RULES, brief: { ...BRIEF, isInterruptible: false } };
  const events: readonly (TurnEvent & { readonly atMs: number })[] = [
    { kind: 'started', atMs: 0 },
    { kind: 'playout-started', reply: 1, startedAtMs: 100, atMs: 100 },
  ];
  const state = events.reduce(
    (before, event) => takeTurnEvent(before, event).state,
    openState(rules),
  );

  const paused = { kind: 'playout-paused', reply: 1, playedMs: 200, atMs: 300 } as const;
  const { effects } = takeTurnEvent(state, paused);

  expect(effects).toContainEqual({ kind: 'resume', reply: 1 });
});

test('a model that does nothing but call tools is asked five times, then the agent apologises', async () => {
  const table = layTable({}, { maySpeculate: false });
  table.model.answers = Array.from({ length: 9 }, () => [calls('no_such_tool')]);
  table.conversation.start();
  await table.pass(1000);

  await table.hear('When do you open?', 600);
  await table.pass(6000);

  expect(table.model.answers.length).toBe(9 - 5);
  expect(table.transcript().at(-1)).toMatch(/^agent: .*sorry/i);
});
