/** One conversation's turn machine: (state, turn event) to (state, effects); pure */
import { onDtmfDigit, onDtmfTimer } from '../endpointing/dtmf.ts';
import {
  failInterimResult,
  onInterimTimer,
  takeInterimResult,
} from '../endpointing/interim-results.ts';
import { audioMsOf } from '../history/heard-words.ts';
import {
  addToHistory,
  dropReply,
  sayPhrase,
  settleBrokenOff,
  settleReply,
} from '../reply/reply.ts';
import {
  advance,
  answer,
  countFailure,
  failAnswer,
  onClause,
  onFillerTimer,
  onModelBegan,
  onModelFinished,
  onModelWaits,
  onPassagesGiven,
  onReplyTimer,
  onToolCalled,
  onToolFinished,
  runToolsAfterWords,
} from './answering.ts';
import {
  forgetFalsePauses,
  goOn,
  interrupt,
  onBargeInTimer,
  onPauseProof,
  onPlayoutPaused,
  PAUSE_AFTER_MS,
  settleAside,
} from './barge-in.ts';
import {
  forgetUtterance,
  onVoiceStarted,
  onVoiceStopped,
  requestWords,
} from './caller-utterance.ts';
import {
  beginScreening,
  closeWith,
  endNow,
  isQuiet,
  limitDuration,
  onMachineAnswered,
  onMessageDue,
  onSilence,
  stopNow,
  watchSilence,
} from './ending.ts';
import { onFarEndMoved, onReturn, onThirdParty, onTransferFailed } from './third-party.ts';
import {
  awaitDespiteFailure,
  onEndOfTurnTimer,
  onTurnScored,
  planEndOfTurn,
  takeGreetedWords,
  takeWords,
} from './turn-end.ts';
import type {
  TimedTurnEvent,
  TurnEffect,
  TurnEvent,
  TurnEventOf,
  TurnTimer,
} from './turn-event.ts';
import {
  act,
  change,
  changeReply,
  changeUtterance,
  type Draft,
  isAgentsFloor,
  type Reply,
  reportTurn,
  type TurnState,
  type Words,
} from './turn-state.ts';

interface TurnStep {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

type Kind = TurnEvent['kind'];

const HANDLERS: { readonly [K in Kind]: (draft: Draft, event: TurnEventOf<K>) => void } = {
  started: start,
  'screening-began': beginScreening,
  'machine-answered': onMachineAnswered,
  'message-due': onMessageDue,
  'hang-up-due': (draft, event) => endNow(draft, { kind: 'agent-hangup' }, event.atMs),
  'voice-started': onVoiceStarted,
  'voice-stopped': onPause,
  'background-talk': onBackgroundTalk,
  'turn-scored': onTurnScored,
  transcribed: onTranscribed,
  'transcription-failed': onTranscriptionFailed,
  'model-waits': onModelWaits,
  'passages-given': onPassagesGiven,
  'model-began': onModelBegan,
  clause: onClause,
  'tool-called': onToolCalled,
  'model-finished': onModelFinished,
  'model-failed': (draft, event) => {
    if (draft.state.reply?.id === event.reply) failAnswer(draft, event.atMs);
  },
  'tool-finished': onToolFinished,
  'tool-settled': (draft, { call, outcome }) => settleBrokenOff(draft, call, outcome.text),
  voiced: onVoiced,
  'playout-started': onPlayoutStarted,
  'playout-paused': onPlayoutPaused,
  'playout-finished': onPlayoutFinished,
  digit: (draft, event) => onDtmfDigit(draft, event.digit, event.atMs),
  'transfer-pending': (draft, event) => change(draft, { isTransferPending: event.isUnderWay }),
  'transfer-failed': onTransferFailed,
  hold: (draft, { isOnHold }) => change(draft, { isOnHold, hasCheckedIn: false }),
  'third-party': onThirdParty,
  'far-end-moved': onFarEndMoved,
  'media-lost': (draft, event) =>
    endNow(
      draft,
      { kind: 'failed', reason: 'no audio comes from the far end', isSilentLine: true },
      event.atMs,
    ),
  timer: (draft, event) => TIMERS[event.timer](draft, event.atMs),
  stopped: (draft, event) => stopNow(draft, event.atMs),
};

/** Talk is found a little after it began. */
const TALK_EDGE_MS = 200;

const MAX_DURATION = { kind: 'timeout', cause: 'max-duration' } as const;

const TIMERS: Readonly<Record<TurnTimer, (draft: Draft, atMs: number) => void>> = {
  'end-of-turn': onEndOfTurnTimer,
  'barge-in': onBargeInTimer,
  'pause-proof': onPauseProof,
  partial: onInterimTimer,
  filler: onFillerTimer,
  digits: onDtmfTimer,
  silence: onSilence,
  reply: onReplyTimer,
  'time-is-up': (draft, atMs) => {
    closeWith(draft, draft.state.rules.phrases.timeIsUp, MAX_DURATION, atMs);
  },
  'max-duration': (draft, atMs) => endNow(draft, draft.state.reply?.after ?? MAX_DURATION, atMs),
  closing: (draft, atMs) => {
    const end = draft.state.reply?.after ?? { kind: 'failed', reason: 'the voice does not speak' };
    endNow(draft, end, atMs);
  },
};

/** Events that count before the agent listens or speaks. */
const BEGINNINGS: readonly Kind[] = ['started', 'screening-began', 'stopped'];

/** Events that still count during the closing sentence. */
const COUNTS_WHILE_CLOSING: readonly Kind[] = [
  'voiced',
  'playout-started',
  'playout-paused',
  'playout-finished',
  'media-lost',
  'stopped',
];

/** Handles one event. Events of past replies and transcriptions change nothing. */
export function takeTurnEvent(state: TurnState, event: TimedTurnEvent): TurnStep {
  if (!counts(state, event)) return { state, effects: [] };
  const draft: Draft = { state, effects: [] };
  const handle = HANDLERS[event.kind] as (draft: Draft, event: TimedTurnEvent) => void;
  handle(draft, event);
  answerWhenFree(draft);
  advance(draft);
  watchSilence(draft, isQuiet(state));
  return { state: draft.state, effects: draft.effects };
}

function counts(state: TurnState, event: TimedTurnEvent): boolean {
  switch (state.stage) {
    case 'waiting':
      return BEGINNINGS.includes(event.kind);
    case 'screening':
      return event.kind === 'timer' ? event.timer !== 'time-is-up' : event.kind !== 'digit';
    case 'open':
      return !BEGINNINGS.includes(event.kind) || event.kind === 'stopped';
    case 'closing':
      return event.kind === 'timer'
        ? event.timer === 'closing' || event.timer === 'max-duration'
        : COUNTS_WHILE_CLOSING.includes(event.kind);
    case 'over':
      return false;
    default:
      return state.stage satisfies never;
  }
}

function start(draft: Draft, { isReturn, atMs }: TurnEventOf<'started'>): void {
  const { brief } = draft.state.rules;
  const isFirst = draft.state.stage === 'waiting';
  change(draft, { stage: 'open' });
  const voiceMs = brief.isInterruptible ? PAUSE_AFTER_MS[0] : null;
  act(draft, { kind: 'set-pause-after', voiceMs });
  if (isFirst) limitDuration(draft);
  if (isReturn === true) {
    onReturn(draft, atMs);
    return;
  }
  // The greeting answers the "hello" of a callee who was listened to first; its words may come later.
  change(draft, { isOwedAnswer: false, endedTurn: null });
  changeUtterance(draft, { greetedAtMs: atMs });
  sayPhrase(draft, 'greeting', brief.greeting);
}

/** The caller pauses: requests the words, at once for a speculation or a barge-in. */
function onPause(draft: Draft, event: TurnEventOf<'voice-stopped'>): void {
  if (!onVoiceStopped(draft, event)) return;
  const { rules, reply } = draft.state;
  if (rules.maySpeculate || isAgentsFloor(reply)) requestWords(draft, 'speculative');
  else planEndOfTurn(draft, event.atMs);
  if (reply?.stage === 'paused') {
    const delayMs = rules.timing.pauseMsMax;
    act(draft, { kind: 'set-timer', timer: 'pause-proof', delayMs });
  }
}

function onTranscribed(draft: Draft, event: TurnEventOf<'transcribed'>): void {
  const { utterance } = draft.state;
  const words: Words = {
    text: event.text.trim(),
    confidence: event.confidence,
    atMs: event.atMs,
    clearVoiceMs: event.clearVoiceMs,
  };
  if (utterance?.interim?.attempt === event.attempt) {
    takeInterimResult(draft, words);
    return;
  }
  if (utterance === null || !utterance.isTranscribing || utterance.attempt !== event.attempt)
    return;
  changeUtterance(draft, { isTranscribing: false });
  if (!takeGreetedWords(draft, words) && !settleAside(draft, words)) {
    interrupt(draft, words.atMs);
    takeWords(draft, words);
  }
}

/** Drops an utterance that was background talk, and the agent goes on; an utterance that began earlier ends where the talk began. */
function onBackgroundTalk(draft: Draft, { sinceMs, atMs }: TurnEventOf<'background-talk'>): void {
  const { utterance, reply } = draft.state;
  if (utterance === null) return;
  if (utterance.startedAtMs < sinceMs - TALK_EDGE_MS) {
    onPause(draft, { kind: 'voice-stopped', lastVoicedAtMs: sinceMs, atMs });
    return;
  }
  if (reply?.stage === 'speculative') dropReply(draft, atMs);
  const words: Words = { text: '', confidence: 0, atMs };
  if (!takeGreetedWords(draft, words) && !settleAside(draft, words)) {
    interrupt(draft, atMs);
    takeWords(draft, words);
  }
}

function onTranscriptionFailed(draft: Draft, event: TurnEventOf<'transcription-failed'>): void {
  const { utterance, reply, rules } = draft.state;
  if (utterance?.interim?.attempt === event.attempt) {
    failInterimResult(draft);
    return;
  }
  if (utterance === null || !utterance.isTranscribing || utterance.attempt !== event.attempt)
    return;
  if (!isAgentsFloor(reply) && awaitDespiteFailure(draft, event.atMs)) return;
  forgetUtterance(draft);
  if (isAgentsFloor(reply)) {
    goOn(draft, event.atMs);
    return;
  }
  dropReply(draft, event.atMs);
  countFailure(draft, 'the recogniser does not answer', event.atMs);
  if (draft.state.stage === 'open') sayPhrase(draft, 'apology', rules.phrases.notUnderstood);
}

/** Answers when neither party has the floor and no DTMF entry is open. */
function answerWhenFree(draft: Draft): void {
  const { stage, isOwedAnswer, utterance, reply, digits } = draft.state;
  const isFree = utterance === null && digits === '' && !isAgentsFloor(reply);
  if (stage === 'open' && isOwedAnswer && isFree) answer(draft);
}

/** A "yes" this shortly before the end of the agent's question is the answer to it. */
const ASIDE_MS_MAX = 2000;

function onVoiced(draft: Draft, event: TurnEventOf<'voiced'>): void {
  const { reply } = draft.state;
  if (reply === null || reply.id !== event.reply) return;
  const pieces = reply.pieces.map((piece, index) =>
    index === event.clause
      ? {
          ...piece,
          audioMs: piece.audioMs + event.audioMs,
          isWhole: event.isWhole,
          ...(event.wordEnds !== undefined && { wordEnds: event.wordEnds }),
        }
      : piece,
  );
  const isFirst = reply.firstAudioAtMs === null && event.audioMs > 0;
  changeReply(draft, isFirst ? { pieces, firstAudioAtMs: event.atMs } : { pieces });
}

function onPlayoutStarted(draft: Draft, event: TurnEventOf<'playout-started'>): void {
  const { reply } = draft.state;
  if (reply === null || reply.id !== event.reply || reply.startedAtMs !== null) return;
  const { startedAtMs } = event;
  changeReply(draft, { stage: 'playing', startedAtMs, playingSinceMs: startedAtMs });
  if (reply.isModelDone) act(draft, { kind: 'cancel-timer', timer: 'reply' });
  forgetFalsePauses(draft, event.atMs);
  reportTurn(draft);
}

/** The agent's voice on its way to the caller: made, begun, over */
function onPlayoutFinished(draft: Draft, event: TurnEventOf<'playout-finished'>): void {
  const { reply } = draft.state;
  if (reply === null || reply.id !== event.reply) return;
  settleReply(draft, event.isComplete ? Number.POSITIVE_INFINITY : event.playedMs, event.atMs);
  if (reply.after !== null) {
    endNow(draft, reply.after, event.atMs);
    return;
  }
  judgeVoice(draft, reply, event);
  if (draft.state.stage !== 'open' || runToolsAfterWords(draft, reply)) return;
  if (event.isComplete) takeAsideAsAnswer(draft, reply, event.atMs);
}

/** Words without any audio mean that the voice has failed, or cannot read them; the caller of an answer hears an apology. */
function judgeVoice(
  draft: Draft,
  reply: Reply,
  { playedMs, atMs }: TurnEventOf<'playout-finished'>,
): void {
  if (reply.pieces.length > 0 && audioMsOf(reply.pieces) === 0) {
    countFailure(draft, 'the voice does not speak', atMs);
    const isLast = reply.kind === 'answer' && reply.calls.length === 0 && playedMs === 0;
    const { stage, utterance, rules } = draft.state;
    if (isLast && stage === 'open' && utterance === null)
      sayPhrase(draft, 'apology', rules.phrases.apology);
  } else if (reply.kind === 'answer') {
    change(draft, { failures: 0 });
  }
}

function takeAsideAsAnswer(draft: Draft, reply: Reply, atMs: number): void {
  const { aside } = draft.state;
  change(draft, { aside: null });
  const isQuestion = reply.pieces.at(-1)?.text.trimEnd().endsWith('?') ?? false;
  if (aside === null || !isQuestion || atMs - aside.atMs > ASIDE_MS_MAX) return;
  addToHistory(draft, aside.text);
  change(draft, {
    isOwedAnswer: true,
    hasCheckedIn: false,
    lastWords: { ...aside, isSnatch: false },
  });
}
