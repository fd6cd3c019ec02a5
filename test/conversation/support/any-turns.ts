/** Turn machines that are told anything at all. */
import fc from 'fast-check';
import { phrasesFor } from '../../../src/conversation/reply/phrases.ts';
import type {
  TurnEffect,
  TurnEvent,
  TurnTimer,
} from '../../../src/conversation/turn/turn-event.ts';
import { takeTurnEvent } from '../../../src/conversation/turn/turn-machine.ts';
import { DEFAULT_TIMING, type TurnRules } from '../../../src/conversation/turn/turn-rules.ts';
import { openState, type TurnState } from '../../../src/conversation/turn/turn-state.ts';
import { BRIEF } from './table.ts';

const RULES: TurnRules = {
  brief: BRIEF,
  phrases: phrasesFor('en'),
  timing: DEFAULT_TIMING,
  maySpeculate: true,
  turnTrust: 1,
  country: 'US',
  isAfterWords: ({ name }) => name === 'end_call' || name === 'transfer_call',
  needsSureWords: ({ name }) => name === 'end_call',
  startedAt: new Date(0),
};

const TIMERS: readonly TurnTimer[] = [
  'end-of-turn',
  'barge-in',
  'pause-proof',
  'partial',
  'filler',
  'digits',
  'silence',
  'reply',
];

const call = { id: 'a', name: 'end_call', arguments: {} };
const reply = fc.nat(6);
const spanMs = fc.nat(3000);
export const words = fc.constantFrom('', 'Yes.', 'What are your hours?', 'and', 'five five');

/** Anything at all, in any order, of replies and transcriptions that may be long gone. */
export const event: fc.Arbitrary<TurnEvent> = fc.oneof(
  fc.record({ kind: fc.constant('voice-started'), voicedAtMs: spanMs }),
  fc.record({ kind: fc.constant('voice-stopped'), lastVoicedAtMs: spanMs }),
  fc.record({
    kind: fc.constant('voice-stopped'),
    lastVoicedAtMs: spanMs,
    levelDbfs: fc.integer({ min: -60, max: 0 }),
  }),
  fc.record({
    kind: fc.constant('transcribed'),
    attempt: fc.nat(6),
    text: words,
    confidence: fc.constant(1),
  }),
  fc.record({
    kind: fc.constant('turn-scored'),
    lastVoicedAtMs: spanMs,
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
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
  fc.record({ kind: fc.constant('transfer-pending'), isUnderWay: fc.boolean() }),
  fc.record({ kind: fc.constant('transfer-failed') }),
  fc.record({ kind: fc.constant('hold'), isOnHold: fc.boolean() }),
  fc.record({ kind: fc.constant('timer'), timer: fc.constantFrom(...TIMERS) }),
) as fc.Arbitrary<TurnEvent>;

export const script = fc.array(fc.tuple(event, fc.nat(900)), { maxLength: 60 });
export const rules = fc
  .tuple(fc.boolean(), fc.boolean())
  .map(([isInterruptible, maySpeculate]): TurnRules => {
    return { ...RULES, maySpeculate, brief: { ...BRIEF, isInterruptible } };
  });

/** Tells a new conversation one thing after the other. */
export function run(of: TurnRules, events: readonly (readonly [TurnEvent, number])[]) {
  let state: TurnState = openState(of);
  let atMs = 0;
  const effects: TurnEffect[] = [];
  const take = (one: TurnEvent) => {
    const step = takeTurnEvent(state, { ...one, atMs });
    state = step.state;
    effects.push(...step.effects);
    return step.effects;
  };
  take({ kind: 'started' });
  for (const [one, waitMs] of events) {
    atMs += waitMs;
    take(one);
  }
  const pass = (byMs: number) => {
    atMs += byMs;
  };
  return { effects, take, pass, state: () => state };
}
