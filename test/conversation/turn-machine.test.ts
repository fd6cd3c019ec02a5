/** Whatever happens, in whatever order: the turn machine keeps its promises. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rules, run, script, words } from './support/any-turns.ts';
import type { CallerAct, ModelAct, Scene } from './support/scene.ts';
import { SceneWorld } from './support/scene-world.ts';

describe('the turn machine, told anything in any order,', () => {
  test('works on one reply at a time, and never on one that is older', () => {
    fc.assert(
      fc.property(rules, script, (of, events) => {
        const { effects } = run(of, events);
        const replies = effects.flatMap((effect) => ('reply' in effect ? [effect.reply] : []));

        expect(replies).toEqual(replies.toSorted((one, other) => one - other));
      }),
    );
  });

  test('lets no reply be heard that it has dropped', () => {
    fc.assert(
      fc.property(rules, script, (of, events) => {
        const dropped = new Set<number>();
        for (const effect of run(of, events).effects) {
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
      fc.property(rules, script, (of, events) => {
        const { take, state } = run(of, events);
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
      fc.property(rules, script, (of, events) => {
        const { effects } = run(of, events);
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
          levelDbfs: fc.integer({ min: -60, max: 0 }),
          confidence: fc.constantFrom(0.3, 0.9),
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
    maySpeculate: fc.boolean(),
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
