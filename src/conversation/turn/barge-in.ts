/** Barge-in: the caller speaks over the agent, which pauses, resumes or stops; pure */
import { dropReply, playedMsAt, releaseReply } from '../reply/reply.ts';
import {
  BACKCHANNEL_MS_MAX,
  isBackchannel,
  LEVEL_UNKNOWN,
  overUsualDb,
  weighOverlap,
} from './backchannel.ts';
import { forgetUtterance, rememberCutOff } from './caller-utterance.ts';
import type { TurnEventOf } from './turn-event.ts';
import {
  act,
  change,
  changeReply,
  changeUtterance,
  type Draft,
  isAgentsFloor,
  type Reply,
  type TurnState,
  type Words,
} from './turn-state.ts';

/** The media worker has stopped playout by itself. It goes on soon unless a voice is behind it. */
export function onPlayoutPaused(draft: Draft, event: TurnEventOf<'playout-paused'>): void {
  const { reply, rules, utterance } = draft.state;
  if (reply === null || reply.id !== event.reply || !isAgentsFloor(reply)) return;
  changeReply(draft, { stage: 'paused', playedMs: event.playedMs });
  if (!rules.brief.isInterruptible || draft.state.stage === 'closing') {
    resume(draft, event.atMs);
  } else if (utterance === null) {
    const delayMs = rules.timing.pauseProofMs;
    act(draft, { kind: 'set-timer', timer: 'pause-proof', delayMs });
  }
}

/** Resumes a paused playout whose cause is still unknown: silence within a sentence must be short. */
export function onPauseProof(draft: Draft, atMs: number): void {
  const { reply, utterance } = draft.state;
  if (reply?.stage === 'paused' && !utterance?.isSpeaking) resume(draft, atMs);
}

/** The voice over the agent's has lasted long: it wants the floor, unless it is known to draw out a "mm-hm". */
export function onBargeInTimer(draft: Draft, atMs: number): void {
  const { utterance } = draft.state;
  if (!utterance?.isSpeaking) return;
  const restMs = utterance.stretchAtMs + BACKCHANNEL_MS_MAX - atMs;
  if (restMs > 0 && isBackchannel(utterance.interimText)) {
    act(draft, { kind: 'set-timer', timer: 'barge-in', delayMs: restMs });
  } else {
    interrupt(draft, atMs);
  }
}

/**
 * Weighs words that were said while the agent had the floor.
 *
 * @returns true when the agent keeps the floor and the words are dealt with.
 */
export function settleAside(draft: Draft, words: Words): boolean {
  const { reply } = draft.state;
  if (!isAgentsFloor(reply) || !isAside(draft.state, reply, words)) return false;
  if (words.text !== '') {
    change(draft, { aside: words });
    emitCallersWords(draft, words.text, words.confidence);
  }
  forgetUtterance(draft);
  goOn(draft, words.atMs);
  return true;
}

/** Lets the agent go on after a voice that came to nothing. */
export function goOn(draft: Draft, atMs: number): void {
  const stage = draft.state.reply?.stage;
  if (stage === 'paused') resume(draft, atMs);
  if (stage === 'held') releaseReply(draft);
}

/** Takes the floor from the agent, if the caller may. */
export function interrupt(draft: Draft, atMs: number): void {
  const { reply, rules, utterance } = draft.state;
  if (!isAgentsFloor(reply)) return;
  if (reply.startedAtMs === null) {
    rememberCutOff(draft);
    // Nothing of it was heard, so the caller's earlier words still need an answer.
    change(draft, { isOwedAnswer: draft.state.isOwedAnswer || reply.kind === 'answer' });
    dropReply(draft, atMs);
    return;
  }
  if (!rules.brief.isInterruptible) return;
  rememberCutOff(draft);
  if (utterance !== null) {
    changeUtterance(draft, { bargeInMs: bargeInMs(reply, utterance.startedAtMs, atMs) });
  }
  dropReply(draft, atMs);
  act(draft, { kind: 'emit', event: { kind: 'barge-in' } });
}

/** Puts words of the caller into the transcript, at the time when they were begun. */
export function emitCallersWords(draft: Draft, text: string, confidence: number): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  const at = new Date(utterance.startedAtMs);
  // They take the place of what was made out before.
  changeUtterance(draft, { interimText: '' });
  act(draft, {
    kind: 'emit',
    event: { kind: 'said', entry: { role: 'user', text, at, confidence } },
  });
}

function isAside(state: TurnState, reply: Reply, words: Words): boolean {
  const { utterance, usualLevel, rules } = state;
  const overlap = weighOverlap({
    text: words.text,
    confidence: words.confidence,
    voicedMs: utterance?.speechMs ?? 0,
    longMs: rules.timing.bargeInMs,
    overUsualDb: overUsualDb(usualLevel, utterance?.level ?? LEVEL_UNKNOWN),
  });
  const isGreetingOrFarewell = reply.kind === 'greeting' || reply.calls.length > 0;
  return overlap === 'courtesy' ? isGreetingOrFarewell : overlap !== 'claim';
}

function resume(draft: Draft, atMs: number): void {
  const { reply } = draft.state;
  if (reply === null) return;
  changeReply(draft, { stage: 'playing', playingSinceMs: atMs - reply.playedMs });
  act(draft, { kind: 'resume', reply: reply.id }, { kind: 'cancel-timer', timer: 'pause-proof' });
}

function bargeInMs(reply: Reply, voicedAtMs: number, atMs: number): number {
  return Math.max(0, reply.playingSinceMs + playedMsAt(reply, atMs) - voicedAtMs);
}
