/** The caller's utterance: start, pause, continuation, transcription request; pure */
import { dictationIn } from '../endpointing/dictation.ts';
import {
  rememberCutOffPause,
  rememberDictationPause,
  rememberPause,
} from '../endpointing/endpointing.ts';
import { dropReply } from '../reply/reply.ts';
import { LEVEL_UNKNOWN, learnLevel } from './backchannel.ts';
import type { TurnEventOf } from './turn-event.ts';
import {
  act,
  type CallerUtterance,
  change,
  changeReply,
  changeUtterance,
  countSpeculation,
  type Draft,
  isAgentsFloor,
} from './turn-state.ts';

/** Who speaks again later than this after the end of a turn has waited for an answer. */
const CUT_OFF_MS_MAX = 1500;

/** Voice activity begins: opens an utterance or continues the current one. */
export function onVoiceStarted(draft: Draft, event: TurnEventOf<'voice-started'>): void {
  const { utterance } = draft.state;
  if (utterance?.isSpeaking) return;
  if (utterance === null) {
    beginUtterance(draft, event.voicedAtMs);
  } else {
    goOn(draft, utterance, event.voicedAtMs);
  }
  yieldToVoice(draft, event.atMs);
  scheduleInterimResult(draft, event.voicedAtMs, event.atMs);
}

/** @returns whether there was a stretch of voice to end. */
export function onVoiceStopped(draft: Draft, event: TurnEventOf<'voice-stopped'>): boolean {
  const { utterance } = draft.state;
  if (utterance === null || !utterance.isSpeaking) return false;
  const lastVoicedAtMs = Math.max(event.lastVoicedAtMs, utterance.stretchAtMs);
  const { levelDbfs } = event;
  const voicedMs = lastVoicedAtMs - utterance.stretchAtMs;
  const { level } = utterance;
  changeUtterance(draft, {
    isSpeaking: false,
    lastVoicedAtMs,
    speechMs: utterance.speechMs + voicedMs,
    level: levelDbfs === undefined ? level : learnLevel(level, { levelDbfs, voicedMs }),
  });
  act(
    draft,
    { kind: 'cancel-timer', timer: 'barge-in' },
    { kind: 'cancel-timer', timer: 'partial' },
  );
  return true;
}

/** Requests a transcription of the utterance so far. */
export function requestWords(draft: Draft, priority: 'speculative' | 'final'): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  const attempt = draft.state.lastAttempt + 1;
  change(draft, { lastAttempt: attempt });
  changeUtterance(draft, { attempt, isTranscribing: true, words: null, interim: null });
  act(draft, { kind: 'transcribe', attempt, priority });
}

/** Drops the utterance; its interim words are withdrawn from the live view. */
export function forgetUtterance(draft: Draft): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  change(draft, { utterance: null });
  if (utterance.interimText !== '') {
    act(draft, { kind: 'emit', event: { kind: 'hearing', text: '' } });
  }
  act(
    draft,
    { kind: 'cancel-transcription' },
    { kind: 'stop-listening' },
    { kind: 'cancel-timer', timer: 'end-of-turn' },
    { kind: 'cancel-timer', timer: 'barge-in' },
    { kind: 'cancel-timer', timer: 'partial' },
  );
}

/**
 * A caller who takes the floor back this soon had only paused: the turn was ended too early, and their pauses are longer than
 * we knew. Without this, no pause longer than the wait for it could ever be learnt.
 */
export function rememberCutOff(draft: Draft): void {
  const { utterance, lastTurnVoicedAtMs, typicalPauseMs } = draft.state;
  if (utterance === null || lastTurnVoicedAtMs === null) return;
  const pauseMs = utterance.startedAtMs - lastTurnVoicedAtMs;
  if (pauseMs > CUT_OFF_MS_MAX) return;
  change(draft, { typicalPauseMs: rememberCutOffPause(typicalPauseMs, pauseMs) });
}

/** Schedules the first interim result of a stretch of voice. */
function scheduleInterimResult(draft: Draft, voicedAtMs: number, atMs: number): void {
  const { utterance, rules } = draft.state;
  if (utterance === null || utterance.isInterimOff) return;
  const delayMs = Math.max(0, voicedAtMs + rules.timing.interimMs - atMs);
  act(draft, { kind: 'set-timer', timer: 'partial', delayMs });
}

/** Learns the caller's usual pauses. Pauses in a dictation are longer, and are learnt separately. */
function learnPause(draft: Draft, utterance: CallerUtterance, pauseMs: number): void {
  const { typicalPauseMs, dictationPauseMs } = draft.state;
  const text = utterance.words?.text ?? utterance.interimText;
  if (dictationIn(draft.state, text) === null) {
    change(draft, { typicalPauseMs: rememberPause(typicalPauseMs, pauseMs) });
  } else {
    change(draft, { dictationPauseMs: rememberDictationPause(dictationPauseMs, pauseMs) });
  }
}

function beginUtterance(draft: Draft, fromMs: number): void {
  const utterance: CallerUtterance = {
    startedAtMs: fromMs,
    stretchAtMs: fromMs,
    isSpeaking: true,
    lastVoicedAtMs: fromMs,
    speechMs: 0,
    level: LEVEL_UNKNOWN,
    attempt: 0,
    isTranscribing: false,
    overAtMs: null,
    words: null,
    interimText: '',
    interim: null,
    isInterimOff: false,
    score: null,
    speculations: 0,
    bargeInMs: null,
    cutOff: null,
    greetedAtMs: null,
  };
  change(draft, { utterance });
  act(draft, { kind: 'listen', fromMs });
}

function goOn(draft: Draft, utterance: CallerUtterance, voicedAtMs: number): void {
  const pauseMs = voicedAtMs - utterance.lastVoicedAtMs;
  learnPause(draft, utterance, pauseMs);
  if (utterance.isTranscribing || utterance.interim !== null)
    act(draft, { kind: 'cancel-transcription' });
  act(draft, { kind: 'cancel-timer', timer: 'end-of-turn' });
  changeUtterance(draft, {
    isSpeaking: true,
    stretchAtMs: voicedAtMs,
    isTranscribing: false,
    overAtMs: null,
    words: null,
    interim: null,
    score: null,
  });
}

/** Immediate reaction to a voice, before its words are known. */
function yieldToVoice(draft: Draft, atMs: number): void {
  const { reply, rules } = draft.state;
  if (reply === null) return;
  if (reply.stage === 'speculative') {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
    return;
  }
  const isUnheard = reply.stage === 'released' && reply.firstAudioAtMs === null;
  // A callee's "Hello?" overlaps the start of the greeting and must not hold it.
  if (isUnheard && reply.kind !== 'greeting') {
    changeReply(draft, { stage: 'held' });
    act(draft, { kind: 'hold', reply: reply.id });
  }
  if (isAgentsFloor(draft.state.reply)) {
    act(draft, { kind: 'set-timer', timer: 'barge-in', delayMs: rules.timing.bargeInMs });
  }
}
