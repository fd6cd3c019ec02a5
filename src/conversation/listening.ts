/** The caller's voice: where an utterance begins, pauses and is taken down; pure */
import { rememberPause } from './endpointing.ts';
import { dropReply } from './reply.ts';
import type { TurnEventOf } from './turn-event.ts';
import {
  act,
  type CallerUtterance,
  change,
  changeReply,
  changeUtterance,
  type Draft,
  isAgentsFloor,
} from './turn-state.ts';

export function onVoiceStarted(draft: Draft, event: TurnEventOf<'voice-started'>): void {
  const { utterance } = draft.state;
  if (utterance?.isSpeaking) return;
  if (utterance === null) beginUtterance(draft, event.voicedAtMs);
  else goOn(draft, utterance, event.voicedAtMs);
  yieldToVoice(draft, event.atMs);
}

/** @returns whether there was a stretch of voice to end. */
export function onVoiceStopped(draft: Draft, event: TurnEventOf<'voice-stopped'>): boolean {
  const { utterance } = draft.state;
  if (utterance === null || !utterance.isSpeaking) return false;
  const lastVoicedAtMs = Math.max(event.lastVoicedAtMs, utterance.stretchAtMs);
  changeUtterance(draft, {
    isSpeaking: false,
    lastVoicedAtMs,
    speechMs: utterance.speechMs + lastVoicedAtMs - utterance.stretchAtMs,
  });
  act(draft, { kind: 'cancel-timer', timer: 'barge-in' });
  return true;
}

/** Asks what has been said so far. */
export function requestWords(draft: Draft, priority: 'speculative' | 'final'): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  const attempt = draft.state.lastAttempt + 1;
  change(draft, { lastAttempt: attempt });
  changeUtterance(draft, { attempt, isTranscribing: true, words: null });
  act(draft, { kind: 'transcribe', attempt, priority });
}

/** Forgets what the caller was saying. */
export function forgetUtterance(draft: Draft): void {
  if (draft.state.utterance === null) return;
  change(draft, { utterance: null });
  act(
    draft,
    { kind: 'cancel-transcription' },
    { kind: 'stop-listening' },
    { kind: 'cancel-timer', timer: 'end-of-turn' },
    { kind: 'cancel-timer', timer: 'barge-in' },
  );
}

function beginUtterance(draft: Draft, fromMs: number): void {
  const utterance: CallerUtterance = {
    startedAtMs: fromMs,
    stretchAtMs: fromMs,
    isSpeaking: true,
    lastVoicedAtMs: fromMs,
    speechMs: 0,
    attempt: 0,
    isTranscribing: false,
    overAtMs: null,
    words: null,
    aheadTries: 0,
    bargeInMs: null,
  };
  change(draft, { utterance });
  act(draft, { kind: 'listen', fromMs });
}

function goOn(draft: Draft, utterance: CallerUtterance, voicedAtMs: number): void {
  const pauseMs = voicedAtMs - utterance.lastVoicedAtMs;
  change(draft, { typicalPauseMs: rememberPause(draft.state.typicalPauseMs, pauseMs) });
  if (utterance.isTranscribing) act(draft, { kind: 'cancel-transcription' });
  act(draft, { kind: 'cancel-timer', timer: 'end-of-turn' });
  changeUtterance(draft, {
    isSpeaking: true,
    stretchAtMs: voicedAtMs,
    isTranscribing: false,
    overAtMs: null,
    words: null,
  });
}

/** What the agent does at once when a voice is heard, before anybody knows what it says. */
function yieldToVoice(draft: Draft, atMs: number): void {
  const { reply, rules, aheadMisses } = draft.state;
  if (reply === null) return;
  if (reply.stage === 'ahead') {
    change(draft, { aheadMisses: aheadMisses + 1 });
    dropReply(draft, atMs);
    return;
  }
  const isUnheard = reply.stage === 'released' && reply.firstAudioAtMs === null;
  // Whoever picks up says "Hello?" while the greeting is on its way; that is no reason to keep it back.
  if (isUnheard && reply.kind !== 'greeting') {
    changeReply(draft, { stage: 'held' });
    act(draft, { kind: 'hold', reply: reply.id });
  }
  if (isAgentsFloor(draft.state.reply)) {
    act(draft, { kind: 'set-timer', timer: 'barge-in', delayMs: rules.timing.bargeInMs });
  }
}
