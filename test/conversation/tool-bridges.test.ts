/** What callers hear while tools run. */
import { expect, test } from 'vitest';
import { ask, kindsOf, openTurns, PHRASES, voicedBy, waitsFor } from './support/turns.ts';

test('a long tool is bridged with a phrase after 0.5 s, and while it lasts never leaves the caller 4 s without a word', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const call = { id: 'a', name: 'book', arguments: {} };
  turns.take(3100, { kind: 'tool-called', reply, call });
  const started = turns.take(3100, { kind: 'model-finished', reply });
  const ring = (clause: number, atMs: number) => {
    const effects = turns.take(atMs, { kind: 'timer', timer: 'filler' });
    turns.take(atMs, { kind: 'voiced', reply, clause, audioMs: 900, isWhole: true });
    if (clause === 0) turns.take(atMs, { kind: 'playout-started', reply, startedAtMs: atMs });
    return effects;
  };

  const rings = [ring(0, 3600), ring(1, 8600), ring(2, 14_600), ring(3, 19_600)];

  expect(waitsFor('filler', started)).toEqual([500]);
  const { filler, patience } = PHRASES;
  expect(rings.map(voicedBy)).toEqual([[filler], [patience], [filler], [patience]]);
  expect(rings.flatMap((effects) => waitsFor('filler', effects))).toEqual([5000, 6000, 5000, 6000]);
});

test('a second tool of a turn is bridged as the first one was, by its own phrase', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const call = (id: string) => ({ id, name: 'book', arguments: {} });
  turns.take(3100, { kind: 'tool-called', reply, call: call('a') });
  turns.take(3100, { kind: 'tool-called', reply, call: call('b') });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3600, { kind: 'timer', timer: 'filler' });
  turns.take(3600, { kind: 'voiced', reply, clause: 0, audioMs: 900, isWhole: true });
  turns.take(3600, { kind: 'playout-started', reply, startedAtMs: 3600 });

  const started = turns.take(4600, {
    ...{ kind: 'tool-finished', reply, call: call('a'), outcome: { text: 'done' } },
  });
  const bridged = turns.take(5100, { kind: 'timer', timer: 'filler' });

  expect(kindsOf(started)).toContain('run-tool');
  expect(waitsFor('filler', started)).toEqual([500]);
  expect(voicedBy(bridged)).toEqual([PHRASES.filler]);
});

test('a tool that follows one that has waited for words is bridged: a charge after the keys of a card', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const call = (name: string) => ({ id: name, name, arguments: {} });
  turns.take(3100, { kind: 'clause', reply, text: 'I am connecting you.' });
  turns.take(3100, { kind: 'tool-called', reply, call: call('transfer_call') });
  turns.take(3100, { kind: 'tool-called', reply, call: call('charge') });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 500, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });
  turns.take(3700, { kind: 'playout-finished', reply, playedMs: 500, isComplete: true });
  const next = turns.replyId();

  const started = turns.take(9000, {
    ...{ kind: 'tool-finished', reply: next, call: call('transfer_call') },
    outcome: { text: 'No answer.' },
  });
  const bridged = turns.take(9500, { kind: 'timer', timer: 'filler' });

  expect(waitsFor('filler', started)).toEqual([500]);
  expect(voicedBy(bridged)).toEqual([PHRASES.filler]);
});

test('a tool that has waited for the words before it is not bridged with another', () => {
  const turns = openTurns();
  ask(turns, 3000);
  const reply = turns.replyId();
  const call = { id: 'a', name: 'transfer_call', arguments: {} };
  turns.take(3100, { kind: 'clause', reply, text: 'I am connecting you.' });
  turns.take(3100, { kind: 'tool-called', reply, call });
  turns.take(3100, { kind: 'model-finished', reply });
  turns.take(3200, { kind: 'voiced', reply, clause: 0, audioMs: 500, isWhole: true });
  turns.take(3200, { kind: 'playout-started', reply, startedAtMs: 3200 });

  const effects = turns.take(3700, {
    ...{ kind: 'playout-finished', reply, playedMs: 500, isComplete: true },
  });

  expect(kindsOf(effects)).toContain('run-tool');
  expect(waitsFor('filler', effects)).toEqual([]);
});
