/** The scripted party by itself: when it speaks, for how long, and which words. */
import { expect, test } from 'vitest';
import type { PartyStep } from '../../src/domain/sandbox-scenario.ts';
import { Party } from '../../src/telephony/sandbox/party.ts';

const FRAME_MS = 20;
const TEXT = 'one two three four';

/** A party whose every sentence takes a second, if it has a voice. */
function partyOf(steps: readonly PartyStep[], hasVoice = true) {
  const acts: string[] = [];
  const party = new Party({
    script: { ringingMs: 0, refusedWith: null, steps },
    actions: {
      pcmOf: () => (hasVoice ? new Int16Array(8000) : undefined),
      press: (digit) => acts.push(digit),
      hangUp: () => acts.push('hang-up'),
      breakOff: () => acts.push('break'),
    },
  });
  let nowMs = 0;
  /** When the party began to speak, if it did before `untilMs`. */
  const run = (untilMs: number, isAgentTalking: (atMs: number) => boolean = () => false) => {
    const spokeAtMs: number[] = [];
    for (; nowMs < untilMs; nowMs += FRAME_MS) {
      if (party.next(nowMs, isAgentTalking(nowMs)).isVoice) spokeAtMs.push(nowMs);
    }
    return spokeAtMs;
  };
  return { party, acts, run };
}

test('Party lets the agent finish, and speaks after a short pause', () => {
  const { run } = partyOf([{ kind: 'listen' }, { kind: 'say', text: TEXT }]);

  const spokeAtMs = run(6000, (atMs) => atMs >= 500 && atMs < 2000);

  expect(spokeAtMs[0]).toBe(2400);
  expect(spokeAtMs).toHaveLength(50);
});

test('Party does not take a pause within a reply for its end', () => {
  const { run } = partyOf([{ kind: 'listen' }, { kind: 'say', text: TEXT }]);

  const spokeAtMs = run(6000, (atMs) => atMs < 1000 || (atMs >= 1300 && atMs < 3000));

  expect(spokeAtMs[0]).toBe(3400);
});

test.each([
  ['talks on and on', () => true],
  ['says nothing', () => false],
])('Party speaks all the same after twelve seconds when the agent %s', (_, isAgentTalking) => {
  const { run } = partyOf([{ kind: 'listen' }, { kind: 'say', text: TEXT }]);

  const spokeAtMs = run(20_000, isAgentTalking);

  expect(spokeAtMs[0]).toBe(12_000);
});

test('Party tells the words of a span, and of a sentence that goes on those so far', () => {
  const { party, run } = partyOf([
    { kind: 'press', digits: '' },
    { kind: 'wait', waitMs: 1000 },
    { kind: 'say', text: TEXT },
    { kind: 'wait', waitMs: 1000 },
    { kind: 'say', text: 'five six' },
  ]);

  run(5000);

  expect(party.wordsBetween(0, 900)).toBe('');
  expect(party.wordsBetween(1000, 1600)).toBe('one two');
  expect(party.wordsBetween(1000, 2500)).toBe(TEXT);
  expect(party.wordsBetween(1000, 5000)).toBe(`${TEXT} five six`);
  expect(party.wordsBetween(2900, 5000)).toBe('five six');
});

test('Party that has no voice is silent for as long as its words would take', () => {
  const { party, run } = partyOf([{ kind: 'say', text: TEXT }, { kind: 'hang-up' }], false);

  const spokeAtMs = run(5000);

  expect(spokeAtMs).toHaveLength((TEXT.length * 60) / FRAME_MS);
  expect(party.wordsBetween(0, 5000)).toBe(TEXT);
});

test('Party sounds its tone right after its words, as one stretch of voice', () => {
  const { run } = partyOf([{ kind: 'say', text: TEXT, toneMs: 500 }]);

  const spokeAtMs = run(5000);

  expect(spokeAtMs).toHaveLength(75);
  expect(spokeAtMs.at(-1)).toBe(1480);
});

test('Party stays on the line, silent, after its last step', () => {
  const { acts, run } = partyOf([{ kind: 'press', digits: '12' }]);

  const spokeAtMs = run(60_000);

  expect(spokeAtMs).toEqual([]);
  expect(acts).toEqual(['1', '2']);
});

test.each([
  0, 400, 3000,
])('Party whose script opens with a wait counts it from the first sound of the agent, after %d ms', (firstMs) => {
  const { run } = partyOf([
    { kind: 'wait', waitMs: 600 },
    { kind: 'say', text: TEXT },
  ]);

  const spokeAtMs = run(8000, (atMs) => atMs >= firstMs);

  expect(spokeAtMs[0]).toBe(firstMs + 600);
});
