/** Barge-in: the caller speaks over the agent, which pauses, resumes or stops; pure */
import { unheardClauses } from '../history/heard-words.ts';
import { dropReply, playedMsAt, releaseReply } from '../reply/reply.ts';
import {
  BACKCHANNEL_MS_MAX,
  isBackchannel,
  isFarewell,
  LEVEL_UNKNOWN,
  type Overlap,
  overUsualDb,
  weighOverlap,
} from './backchannel.ts';
import { forgetUtterance, rememberCutOff } from './caller-utterance.ts';
import { answerPresence, isPresenceCheck, isWorking } from './presence-check.ts';
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

/** The media worker has paused playout by itself. Playout resumes soon unless a voice caused the pause. */
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
  if (reply?.stage !== 'paused' || utterance?.isSpeaking) return;
  if (utterance === null) noteFalsePause(draft, atMs);
  resume(draft, atMs);
}

/**
 * Length of a sound that pauses playout, by the number of pauses in a row that no voice caused: in a street, at music or at
 * dialled digits the agent would be heard in shreds. In the end only words or `bargeInMs` of voice stop it.
 */
export const PAUSE_AFTER_MS = [60, 160, 320, null] as const;

/** Time without another false pause after which the caller's side counts as quiet. */
const NOISY_MS = 15_000;

/** Takes the first sound of an answer in a place that has become quiet: a short voice pauses playout again. */
export function forgetFalsePauses(draft: Draft, atMs: number): void {
  const { falsePauses, lastFalsePauseAtMs } = draft.state;
  if (falsePauses === 0 || atMs - lastFalsePauseAtMs <= NOISY_MS) return;
  setFalsePauses(draft, 0);
}

function noteFalsePause(draft: Draft, atMs: number): void {
  const { falsePauses, lastFalsePauseAtMs } = draft.state;
  const isNoisy = falsePauses > 0 && atMs - lastFalsePauseAtMs <= NOISY_MS;
  change(draft, { lastFalsePauseAtMs: atMs });
  setFalsePauses(draft, Math.min(isNoisy ? falsePauses + 1 : 1, PAUSE_AFTER_MS.length - 1));
}

function setFalsePauses(draft: Draft, falsePauses: number): void {
  const { rules, stage } = draft.state;
  change(draft, { falsePauses });
  if (stage !== 'open' || !rules.brief.isInterruptible) return;
  act(draft, { kind: 'set-pause-after', voiceMs: PAUSE_AFTER_MS[falsePauses] ?? null });
}

/** Longest "are you still there?", in milliseconds. */
const PRESENCE_MS_MAX = 3000;

/** The voice over the agent's has lasted long: it wants the floor, unless it is known to draw out a "mm-hm". A tool waits for its words. */
export function onBargeInTimer(draft: Draft, atMs: number): void {
  const { utterance, reply } = draft.state;
  if (!utterance?.isSpeaking || !isAgentsFloor(reply) || reply.isToolRunning) return;
  const text = utterance.interimText;
  const isAsking = isWorking(reply) && isPresenceCheck(text) !== 'none';
  const restMs = utterance.stretchAtMs + (isAsking ? PRESENCE_MS_MAX : BACKCHANNEL_MS_MAX) - atMs;
  if (restMs > 0 && (isAsking || isBackchannel(text))) {
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
  if (!isAgentsFloor(reply)) return false;
  if (settlePresence(draft, reply, words)) return true;
  const overlap = overlapOf(draft.state, words, draft.state.utterance?.speechMs ?? 0);
  if (!isAside(overlap, reply, words)) return false;
  if (overlap === 'noise') {
    if (reply.stage === 'paused') noteFalsePause(draft, words.atMs);
  } else {
    // Uncertain words are no answer to anything.
    if (overlap !== 'murmur') change(draft, { aside: words });
    emitCallersWords(draft, words.text, words.confidence);
  }
  forgetUtterance(draft);
  goOn(draft, words.atMs);
  return true;
}

/** Answers "are you still there?" while the agent works. @returns false for other words. */
function settlePresence(draft: Draft, reply: Reply, words: Words): boolean {
  const presence = isWorking(reply) ? isPresenceCheck(words.text) : 'none';
  if (presence === 'none') return false;
  emitCallersWords(draft, words.text, words.confidence);
  forgetUtterance(draft);
  goOn(draft, words.atMs);
  if (presence === 'whole') answerPresence(draft, words.atMs);
  return true;
}

/** Whether a voice in progress wants the floor, by its length and its words so far. */
export function wantsFloor(state: TurnState, words: Words): boolean {
  const { utterance, reply } = state;
  if (utterance === null) return false;
  // The question may only have begun, and a tool that was stopped cannot go on.
  if (reply !== null && isWorking(reply) && isPresenceCheck(words.text) !== 'none') return false;
  const stretchMs = utterance.isSpeaking ? words.atMs - utterance.stretchAtMs : 0;
  return overlapOf(state, words, utterance.speechMs + stretchMs) === 'claim';
}

/** Resumes the agent after a voice that did not take the floor. */
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
    // None of the reply was heard, so the caller's earlier words still need an answer.
    const isAnswer = reply.kind === 'answer';
    change(draft, { isOwedAnswer: draft.state.isOwedAnswer || isAnswer });
    if (!isAnswer)
      changeUtterance(draft, { cutOff: { kind: reply.kind, rest: restOf(reply, atMs) } });
    dropReply(draft, atMs);
    return;
  }
  if (!rules.brief.isInterruptible) return;
  rememberCutOff(draft);
  if (utterance !== null) {
    changeUtterance(draft, {
      bargeInMs: bargeInMs(reply, utterance.startedAtMs, atMs),
      cutOff: { kind: reply.kind, rest: restOf(reply, atMs) },
    });
  }
  dropReply(draft, atMs);
  act(draft, { kind: 'emit', event: { kind: 'barge-in' } });
}

/** Rest of the reply in case the voice comes to nothing; empty for an unfinished reply. */
function restOf(reply: Reply, atMs: number): readonly string[] {
  const isWhole = reply.isModelDone && reply.calls.length === 0;
  return isWhole ? unheardClauses(reply.pieces, playedMsAt(reply, atMs)) : [];
}

/** Puts words of the caller into the transcript, at the time when they were begun. */
export function emitCallersWords(draft: Draft, text: string, confidence: number): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  const at = new Date(utterance.startedAtMs);
  // These words replace the interim result.
  changeUtterance(draft, { interimText: '' });
  act(draft, {
    kind: 'emit',
    event: { kind: 'said', entry: { role: 'user', text, at, confidence } },
  });
}

function overlapOf(
  { utterance, usualLevel, rules }: TurnState,
  words: Words,
  voicedMs: number,
): Overlap {
  return weighOverlap({
    text: words.text,
    confidence: words.confidence,
    voicedMs,
    longMs: rules.timing.bargeInMs,
    overUsualDb: overUsualDb(usualLevel, utterance?.level ?? LEVEL_UNKNOWN),
  });
}

function isAside(overlap: Overlap, reply: Reply, words: Words): boolean {
  if (overlap !== 'courtesy') return overlap !== 'claim';
  // A caller who says goodbye to a greeting wants the call to end.
  const isGreeted = reply.kind === 'greeting' && !isFarewell(words.text);
  return isGreeted || reply.calls.length > 0;
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
