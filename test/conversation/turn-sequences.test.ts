/** Five thousand conversations of random events: what must hold after each of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TurnEffect, TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import type { TurnState } from '../../src/conversation/turn/turn-state.ts';
import { event, rules, run } from './support/any-turns.ts';

const SEQUENCES = 5000;

/** A step that is aimed at what there is right now, more often than chance would have it. */
type Aim = 'as it came' | 'at what there is';

const steps = fc.array(
  fc.record({
    one: event,
    aim: fc.constantFrom<Aim>('as it came', 'at what there is'),
    waitMs: fc.nat(900),
  }),
  { maxLength: 40 },
);

/** Gives an event the numbers of the present reply, transcription or pause. */
function aimed(one: TurnEvent, state: TurnState): TurnEvent {
  const { utterance, reply } = state;
  if ('reply' in one && reply !== null) return { ...one, reply: reply.id };
  if (utterance === null) return one;
  if ('attempt' in one) return { ...one, attempt: utterance.interim?.attempt ?? utterance.attempt };
  return one.kind === 'turn-scored' ? { ...one, lastVoicedAtMs: utterance.lastVoicedAtMs } : one;
}

/** Whether an event is about something that is gone, or never was. */
function isStale(one: TurnEvent, { utterance, reply }: TurnState): boolean {
  if ('reply' in one) return reply?.id !== one.reply;
  if ('attempt' in one) {
    const isFinal = utterance?.isTranscribing === true && utterance.attempt === one.attempt;
    return !isFinal && utterance?.interim?.attempt !== one.attempt;
  }
  if (one.kind !== 'turn-scored') return false;
  return (
    utterance === null || utterance.isSpeaking || utterance.lastVoicedAtMs !== one.lastVoicedAtMs
  );
}

/** Keeps account of what a conversation has running. */
class Account {
  readonly audible = new Set<number>();
  readonly timers = new Set<string>();
  isClosed = false;

  take(one: TurnEvent, effects: readonly TurnEffect[]): void {
    if (one.kind === 'playout-finished') this.audible.delete(one.reply);
    if (one.kind === 'timer') this.timers.delete(one.timer);
    for (const effect of effects) this.#enter(effect);
  }

  #enter(effect: TurnEffect): void {
    if (this.isClosed) expect(effect.kind).toBe('emit');
    if (effect.kind === 'release') this.audible.add(effect.reply);
    if (effect.kind === 'drop') this.audible.delete(effect.reply);
    if (effect.kind === 'set-timer') this.timers.add(effect.timer);
    if (effect.kind === 'cancel-timer') this.timers.delete(effect.timer);
    if (effect.kind === 'close') {
      this.isClosed = true;
      this.timers.clear();
    }
    expect(this.audible.size).toBeLessThanOrEqual(1);
  }
}

test(`the turn machine keeps its promises over ${SEQUENCES} random conversations`, () => {
  fc.assert(
    fc.property(rules, steps, (of, sequence) => {
      const conversation = run(of, []);
      const account = new Account();
      const take = (one: TurnEvent) => {
        const before = conversation.state();
        const effects = conversation.take(one);
        account.take(one, effects);
        if (!isStale(one, before)) return;
        expect(effects).toEqual([]);
        expect(conversation.state()).toBe(before);
      };
      account.take({ kind: 'started' }, conversation.effects);
      for (const { one, aim, waitMs } of sequence) {
        conversation.pass(waitMs);
        take(aim === 'as it came' ? one : aimed(one, conversation.state()));
      }
      take({ kind: 'stopped' });

      expect(account.isClosed).toBe(true);
      expect([...account.timers]).toEqual([]);
      expect([...account.audible]).toEqual([]);
    }),
    { numRuns: SEQUENCES },
  );
});
