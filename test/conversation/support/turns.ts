/** A turn machine that is told events at given times, its greeting heard. */
import { phrasesFor } from '../../../src/conversation/reply/phrases.ts';
import type { TurnEffect, TurnEvent } from '../../../src/conversation/turn/turn-event.ts';
import { takeTurnEvent } from '../../../src/conversation/turn/turn-machine.ts';
import { DEFAULT_TIMING, type TurnRules } from '../../../src/conversation/turn/turn-rules.ts';
import { openState } from '../../../src/conversation/turn/turn-state.ts';
import { BRIEF } from './table.ts';

export const PHRASES = phrasesFor('en');

/** A machine that has only been started: reply 1 is its greeting. */
export function startTurns(rules: Partial<TurnRules> = {}) {
  let state = openState({
    ...{ brief: BRIEF, phrases: PHRASES, timing: DEFAULT_TIMING, maySpeculate: true },
    ...{
      turnTrust: 1,
      country: 'US',
      isAfterWords: ({ name }: { name: string }) => name === 'transfer_call',
      needsSureWords: ({ name }: { name: string }) => name !== 'look_up',
      startedAt: new Date(0),
    },
    ...rules,
  });
  const take = (atMs: number, event: TurnEvent): readonly TurnEffect[] => {
    const step = takeTurnEvent(state, { ...event, atMs });
    state = step.state;
    return step.effects;
  };
  const started = take(0, { kind: 'started' });
  return { take, started, state: () => state, replyId: () => state.reply?.id ?? 0 };
}

/** A machine that has been started and has greeted, 500 ms later. */
export function openTurns(rules: Partial<TurnRules> = {}) {
  const turns = startTurns(rules);
  hearWhole(turns, 0, 500);
  return turns;
}

type Turns = ReturnType<typeof startTurns>;

/** The current reply is voiced, played from `fromMs` to `toMs` and heard whole. */
export function hearWhole({ take, state }: Turns, fromMs: number, toMs: number): void {
  const { id: reply, pieces } = state().reply ?? { id: 0, pieces: [] };
  const audioMs = (toMs - fromMs) / pieces.length;
  pieces.forEach((_, clause) => {
    take(fromMs, { kind: 'voiced', reply, clause, audioMs, isWhole: true });
  });
  take(fromMs, { kind: 'playout-started', reply, startedAtMs: fromMs });
  take(toMs, { kind: 'playout-finished', reply, playedMs: toMs - fromMs, isComplete: true });
}

/** The caller says something from `fromMs` to `toMs`, and it is understood at once. */
export function say(turns: Turns, text: string, fromMs: number, toMs: number) {
  turns.take(fromMs, { kind: 'voice-started', voicedAtMs: fromMs });
  turns.take(toMs, { kind: 'voice-stopped', lastVoicedAtMs: toMs });
  const attempt = turns.state().utterance?.attempt ?? 0;
  return turns.take(toMs, { kind: 'transcribed', attempt, text, confidence: 1 });
}

/** The caller asks something, and their turn is over at `atMs`. */
export function ask(turns: Turns, atMs: number): readonly TurnEffect[] {
  say(turns, 'What are your hours?', atMs - 2000, atMs - 1000);
  return turns.take(atMs, { kind: 'timer', timer: 'end-of-turn' });
}

/** The model answers the current reply with these clauses. */
export function think({ take, replyId }: Turns, atMs: number, ...texts: readonly string[]): void {
  const reply = replyId();
  take(atMs, { kind: 'model-began', reply });
  for (const text of texts) take(atMs, { kind: 'clause', reply, text });
  take(atMs, { kind: 'model-finished', reply });
}

export const kindsOf = (effects: readonly TurnEffect[]) => effects.map(({ kind }) => kind);

export const voicedBy = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'voice' ? [effect.text] : []));

export const saidBy = (effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) =>
    effect.kind === 'emit' && effect.event.kind === 'said' ? [effect.event.entry.text] : [],
  );

/** The delays that a timer was set to. */
export const waitsFor = (timer: string, effects: readonly TurnEffect[]) =>
  effects.flatMap((effect) =>
    effect.kind === 'set-timer' && effect.timer === timer ? [effect.delayMs] : [],
  );
