/** Whatever happens, in whatever order: the turn machine keeps its promises. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { phrasesFor } from '../../src/conversation/phrases.ts';
import type { TurnEffect } from '../../src/conversation/turn-effect.ts';
import type { TurnHappening, TurnTimer } from '../../src/conversation/turn-event.ts';
import { takeTurnEvent } from '../../src/conversation/turn-machine.ts';
import { DEFAULT_TIMING, type TurnRules } from '../../src/conversation/turn-rules.ts';
import { openState, type TurnState } from '../../src/conversation/turn-state.ts';
import type { CallerAct, ModelAct, Scene } from './support/scene.ts';
import { SceneWorld } from './support/scene-world.ts';
import { BRIEF } from './support/table.ts';

const RULES: TurnRules = {
  brief: BRIEF,
  phrases: phrasesFor('en'),
  timing: DEFAULT_TIMING,
  mayThinkAhead: true,
  turnTrust: 1,
  country: 'US',
  toolsAfterWords: ['end_call', 'transfer_call'],
  startedAt: new Date(0),
};

const TIMERS: readonly TurnTimer[] = [
  'end-of-turn',
  'barge-in',
  'pause-proof',
  'digits',
  'silence',
  'reply',
];

const call = { id: 'a', name: 'end_call', arguments: {} };
const reply = fc.nat(6);
const spanMs = fc.nat(3000);
const words = fc.constantFrom('', 'Yes.', 'What are your hours?', 'and', 'five five');

/** Anything at all, in any order, of replies and transcriptions that may be long gone. */
const happening: fc.Arbitrary<TurnHappening> = fc.oneof(
  fc.record({ kind: fc.constant('voice-started'), voicedAtMs: spanMs }),
  fc.record({ kind: fc.constant('voice-stopped'), lastVoicedAtMs: spanMs }),
  fc.record({
    kind: fc.constant('transcribed'),
    attempt: fc.nat(6),
    text: words,
    confidence: fc.constant(1),
  }),
  fc.record({ kind: fc.constant('transcription-failed'), attempt: fc.nat(6) }),
  fc.record({ kind: fc.constantFrom('model-began', 'model-finished', 'model-failed'), reply }),
  fc.record({ kind: fc.constant('clause'), reply, text: words }),
  fc.record({ kind: fc.constant('tool-called'), reply, call: fc.constant(call) }),
  fc.record({
    kind: fc.constant('tool-finished'),
    reply,
    call: fc.constant(call),
    outcome: fc.constantFrom({ text: 'no' }, { text: 'yes', next: 'hang-up' as const }),
  }),
  fc.record({
    kind: fc.constant('voiced'),
    reply,
    clause: fc.nat(3),
    audioMs: spanMs,
    isWhole: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('playout-started'), reply, startedAtMs: spanMs }),
  fc.record({ kind: fc.constant('playout-paused'), reply, playedMs: spanMs }),
  fc.record({
    kind: fc.constant('playout-finished'),
    reply,
    playedMs: spanMs,
    isComplete: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('digit'), digit: fc.constantFrom('1', '#', 'x') }),
  fc.record({ kind: fc.constant('timer'), timer: fc.constantFrom(...TIMERS) }),
) as fc.Arbitrary<TurnHappening>;

const script = fc.array(fc.tuple(happening, fc.nat(900)), { maxLength: 60 });
const rules = fc
  .tuple(fc.boolean(), fc.boolean())
  .map(([isInterruptible, mayThinkAhead]): TurnRules => {
    return { ...RULES, mayThinkAhead, brief: { ...BRIEF, isInterruptible } };
  });

function run(of: TurnRules, happenings: readonly (readonly [TurnHappening, number])[]) {
  let state: TurnState = openState(of);
  let atMs = 0;
  const effects: TurnEffect[] = [];
  const take = (one: TurnHappening) => {
    const step = takeTurnEvent(state, { ...one, atMs });
    state = step.state;
    effects.push(...step.effects);
    return step.effects;
  };
  take({ kind: 'started' });
  for (const [one, waitMs] of happenings) {
    atMs += waitMs;
    take(one);
  }
  return { effects, take, state: () => state };
}

describe('the turn machine, told anything in any order,', () => {
  test('works on one reply at a time, and never on one that is older', () => {
    fc.assert(
      fc.property(rules, script, (of, happenings) => {
        const { effects } = run(of, happenings);
        const replies = effects.flatMap((effect) => ('reply' in effect ? [effect.reply] : []));

        expect(replies).toEqual(replies.toSorted((one, other) => one - other));
      }),
    );
  });

  test('lets no reply be heard that it has dropped', () => {
    fc.assert(
      fc.property(rules, script, (of, happenings) => {
        const dropped = new Set<number>();
        for (const effect of run(of, happenings).effects) {
          if (effect.kind === 'drop') dropped.add(effect.reply);
          else if ('reply' in effect) expect(dropped.has(effect.reply)).toBe(false);
        }
      }),
    );
  });

  test('does nothing more once it is over', () => {
    fc.assert(
      fc.property(rules, script, script, (of, before, after) => {
        const conversation = run(of, before);
        conversation.take({ kind: 'stopped' });

        expect(after.flatMap(([one]) => conversation.take(one))).toEqual([]);
      }),
    );
  });

  test('ends when its time is up, whatever came before', () => {
    fc.assert(
      fc.property(rules, script, (of, happenings) => {
        const { take, state } = run(of, happenings);
        take({ kind: 'timer', timer: 'max-duration' });

        expect(state().stage).toBe('over');
      }),
    );
  });

  test('takes its leave before its time is up, and ends though the closing sentence goes on', () => {
    fc.assert(
      fc.property(rules, script, script, (of, before, during) => {
        const { take, state } = run(of, before);
        take({ kind: 'timer', timer: 'time-is-up' });
        const isOpen = state().stage === 'open';
        for (const [one] of during) take(one);
        take({ kind: 'timer', timer: 'max-duration' });

        expect([isOpen, state().stage]).toEqual([false, 'over']);
      }),
    );
  });

  test('says that the conversation has ended once at most, and last', () => {
    fc.assert(
      fc.property(rules, script, (of, happenings) => {
        const { effects } = run(of, happenings);
        const ends = effects.filter(({ kind, ...rest }) => {
          return kind === 'emit' && 'event' in rest && rest.event.kind === 'ended';
        });

        expect(ends.length).toBeLessThanOrEqual(1);
        if (ends.length === 1) expect(effects.at(-1)).toBe(ends[0]);
      }),
    );
  });
});

describe('whole conversations with anybody', () => {
  const caller: fc.Arbitrary<readonly { atMs: number; act: CallerAct }[]> = fc.array(
    fc.record({
      atMs: fc.nat(20_000),
      act: fc.oneof(
        fc.record({
          kind: fc.constant('says' as const),
          text: words,
          voiceMs: fc.integer({ min: 20, max: 3000 }),
        }),
        fc.record({ kind: fc.constant('presses' as const), digit: fc.constantFrom('1', '#') }),
      ),
    }),
    { maxLength: 12 },
  );
  const model: fc.Arbitrary<readonly ModelAct[]> = fc.array(
    fc.record({
      text: fc.constantFrom('', 'We open at nine, and we close at five. Is that all?', 'Yes.'),
      calls: fc.constantFrom([], [], ['end_call'], ['send_sms']),
      failure: fc.constantFrom('none', 'none', 'none', 'fails', 'hangs', 'breaks off'),
    }),
    { maxLength: 8 },
  );
  const scene: fc.Arbitrary<Scene> = fc.record({
    greeting: fc.constant('Hello, how can I help you?'),
    language: fc.constant('en-US'),
    toolMs: fc.constantFrom(100, 3000),
    turnScores: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
    isInterruptible: fc.boolean(),
    mayThinkAhead: fc.boolean(),
    silenceTimeoutMs: fc.constant(5000),
    maxDurationMs: fc.constant(60_000),
    lengthMs: fc.constant(120_000),
    caller,
    model,
  });

  test('come to an end by themselves', () => {
    fc.assert(
      fc.property(scene, (one) => {
        const trace = new SceneWorld(one).play();

        expect(trace.filter((line) => line.includes('EMIT ended'))).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });

  test('never wait for a reply that does not come while every part works', () => {
    fc.assert(
      fc.property(scene, (one) => {
        const trace = new SceneWorld({ ...one, model: [] }).play();

        expect(trace.filter((line) => /^ *[\d.]+ {2}timer reply$/.test(line))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
