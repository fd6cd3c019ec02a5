/** The agent's answer: model events, tool calls, filler, failures; pure */
import type { ChatMessage, ToolCall } from '../../llm/language-model.ts';
import type { ToolOutcome } from '../../tool/tool.ts';
import type { ConversationEnd } from '../conversation-port.ts';
import { audioMsOf, ownWords } from '../history/heard-words.ts';
import { messagesFor } from '../history/prompt.ts';
import {
  addClause,
  beginReply,
  bridge,
  dropReply,
  finishReply,
  isUnsaid,
  playedMsAt,
  releaseReply,
  sayPhrase,
  watchReply,
} from '../reply/reply.ts';
import { forgetUtterance } from './caller-utterance.ts';
import { closeWith } from './ending.ts';
import type { TurnEventOf } from './turn-event.ts';
import { act, change, changeReply, type Draft, isAgentsFloor, type Reply } from './turn-state.ts';
import { askToConfirm, confirmedCalls, holdClause, mustConfirm, sayHeld } from './unsure-words.ts';

/** A model that keeps calling tools without saying anything is stopped here. */
const ROUNDS_MAX = 5;

/** Failures in a row after which the agent gives the call up. */
const FAILURES_MAX = 3;

/** End of the call after a tool; null where it goes on and the agent says nothing of the tool itself. */
const AFTER_TOOL: Readonly<Record<NonNullable<ToolOutcome['next']>, ConversationEnd | null>> = {
  'hang-up': { kind: 'agent-hangup' },
  transferred: { kind: 'transferred' },
  'three-way': null,
};

/** Answers the caller's turn: with the speculative reply if there is one, or with a new one. */
export function answer(draft: Draft): void {
  const { reply } = draft.state;
  change(draft, { isOwedAnswer: false });
  if (reply?.stage === 'speculative') {
    releaseReply(draft);
  } else if (reply === null) {
    const id = beginReply(draft, { kind: 'answer', stage: 'released' });
    act(draft, { kind: 'release', reply: id });
    if (!carryOutConfirmed(draft)) askModel(draft);
  }
}

/** Carries out the tool calls that the caller has just confirmed. @returns false without a question, or without a yes. */
function carryOutConfirmed(draft: Draft): boolean {
  const { lastWords, turns } = draft.state;
  if (lastWords === null) return false;
  const calls = confirmedCalls(draft.state, { text: lastWords.text, turn: turns });
  if (calls.length === 0) return false;
  changeReply(draft, { calls, isModelDone: true, rounds: 1 });
  watchReply(draft);
  return true;
}

/** Asks the model for the current reply, or for its next part after a tool has run. */
export function askModel(draft: Draft, unsaid: readonly ChatMessage[] = []): void {
  const { reply, rules, history } = draft.state;
  if (reply === null) return;
  const content = ownWords(reply.pieces)
    .map(({ text }) => text)
    .join(' ');
  const said: readonly ChatMessage[] = content === '' ? [] : [{ role: 'assistant', content }];
  const messages = messagesFor(rules, [...history, ...unsaid, ...said, ...reply.exchange]);
  changeReply(draft, { isModelDone: false, rounds: reply.rounds + 1 });
  act(draft, { kind: 'ask', reply: reply.id, messages });
  watchReply(draft);
}

/** The model has passages of the agent's documents: notes where they are from. */
export function onPassagesGiven(draft: Draft, event: TurnEventOf<'passages-given'>): void {
  if (currentReply(draft, event.reply) !== null) changeReply(draft, { sources: event.sources });
}

/** First token of the model: notes the time. */
export function onModelBegan(draft: Draft, event: TurnEventOf<'model-began'>): void {
  const reply = currentReply(draft, event.reply);
  if (reply === null || reply.firstTokenAtMs !== null) return;
  changeReply(draft, { firstTokenAtMs: event.atMs });
}

/** Adds a clause to the answer. */
export function onClause(draft: Draft, event: TurnEventOf<'clause'>): void {
  const reply = currentReply(draft, event.reply);
  if (reply === null || reply.isModelDone) return;
  if (reply.firstClauseAtMs === null) changeReply(draft, { firstClauseAtMs: event.atMs });
  if (!holdClause(draft, event.text)) {
    sayHeld(draft);
    addClause(draft, event.text);
  }
  watchReply(draft);
}

/** Adds a tool call of the model to the reply. */
export function onToolCalled(draft: Draft, event: TurnEventOf<'tool-called'>): void {
  const reply = currentReply(draft, event.reply);
  if (reply === null || reply.isModelDone) return;
  changeReply(draft, { calls: [...reply.calls, event.call] });
}

/** End of the model's stream; an answer without words or tool calls is a failure. */
export function onModelFinished(draft: Draft, event: TurnEventOf<'model-finished'>): void {
  const reply = currentReply(draft, event.reply);
  if (reply === null || reply.isModelDone) return;
  const { hasThirdParty } = draft.state;
  // In a three-way call, an empty answer is allowed: the other two parties may talk to each other.
  const isEmpty = reply.calls.length === 0 && reply.held.length === 0 && isUnsaid(reply);
  if (isEmpty && !hasThirdParty) {
    failAnswer(draft, event.atMs);
    return;
  }
  changeReply(draft, { isModelDone: true });
  if (reply.startedAtMs !== null) act(draft, { kind: 'cancel-timer', timer: 'reply' });
}

/** The model failed, or made no progress for too long. */
export function failAnswer(draft: Draft, atMs: number): void {
  const { reply } = draft.state;
  if (reply === null) return;
  if (reply.stage === 'speculative' || reply.stage === 'held') {
    change(draft, { isOwedAnswer: draft.state.isOwedAnswer || reply.stage === 'held' });
    dropReply(draft, atMs);
    return;
  }
  countFailure(draft, 'the language model does not answer', atMs);
  if (draft.state.stage !== 'open') return;
  apologise(draft, reply, atMs);
}

/** The reply makes no progress: either the model is silent or the voice is. */
export function onReplyTimer(draft: Draft, atMs: number): void {
  if (draft.state.reply === null) return;
  if (!draft.state.reply.isModelDone) {
    failAnswer(draft, atMs);
    return;
  }
  if (draft.state.isOnHold) {
    // Its words wait for the end of the hold.
    watchReply(draft);
    return;
  }
  countFailure(draft, 'the voice does not speak', atMs);
  if (draft.state.stage === 'open') dropReply(draft, atMs);
}

/** Counts a failure of an engine; after a few of them in a row the call is given up. */
export function countFailure(draft: Draft, reason: string, atMs: number): void {
  change(draft, { failures: draft.state.failures + 1 });
  if (draft.state.failures < FAILURES_MAX) return;
  closeWith(draft, draft.state.rules.phrases.giveUp, { kind: 'failed', reason }, atMs);
}

/** Result of a tool: ends the call, or asks the model again after the last one. */
export function onToolFinished(draft: Draft, event: TurnEventOf<'tool-finished'>): void {
  const reply = currentReply(draft, event.reply);
  if (reply === null || reply.calls[0]?.id !== event.call.id) return;
  const { call, outcome } = event;
  act(draft, { kind: 'cancel-timer', timer: 'filler' });
  changeReply(draft, {
    isToolRunning: false,
    calls: reply.calls.slice(1),
    exchange: [
      ...reply.exchange,
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: call.id, name: call.name, content: outcome.text },
    ],
  });
  if (outcome.next !== undefined) {
    changeReply(draft, { after: AFTER_TOOL[outcome.next], calls: [] });
  } else if (reply.calls.length === 1) {
    if (reply.rounds >= ROUNDS_MAX) failAnswer(draft, event.atMs);
    else askModel(draft);
  }
}

/** Runs the tools that waited for the words before them to be heard. @returns whether there were any. */
export function runToolsAfterWords(draft: Draft, heard: Reply): boolean {
  if (heard.calls.length === 0) return false;
  const id = beginReply(draft, { kind: 'answer', stage: 'released' });
  changeReply(draft, { calls: heard.calls, rounds: heard.rounds, isModelDone: true });
  act(draft, { kind: 'release', reply: id });
  runNextTool(draft);
  return true;
}

/** Continues a reply once the model has finished and the audio is released: with its tools, or with the end of the reply. */
export function advance(draft: Draft): void {
  const { reply } = draft.state;
  if (!isAgentsFloor(reply) || reply.stage === 'held') return;
  if (!reply.isModelDone || reply.isFinished || reply.isToolRunning) return;
  const next = reply.calls[0];
  if (next !== undefined && mustConfirm(draft.state, next)) {
    askToConfirm(draft);
    finishReply(draft);
    return;
  }
  sayHeld(draft);
  if (next === undefined) finishReply(draft);
  else if (draft.state.rules.isAfterWords(next)) speakBeforeTool(draft, next);
  else runNextTool(draft);
}

/** Ends the words that go with a tool, which runs once they were heard; where the model gave none, a set phrase goes with some tools. */
function speakBeforeTool(draft: Draft, { name }: ToolCall): void {
  const { reply, rules } = draft.state;
  const { farewell, transfer, keypad } = rules.phrases;
  const phrases: Readonly<Record<string, string>> = {
    ...{ end_call: farewell, transfer_call: transfer, collect_digits: keypad },
  };
  const phrase = phrases[name];
  if (reply !== null && isUnsaid(reply)) {
    if (phrase === undefined) {
      runNextTool(draft);
      return;
    }
    addClause(draft, phrase);
  }
  finishReply(draft);
}

function runNextTool(draft: Draft): void {
  const { reply } = draft.state;
  const call = reply?.calls[0];
  if (reply === null || call === undefined) return;
  // The caller may be saying the number that the tool wants as keys.
  if (draft.state.rules.takesKeys?.(call)) forgetUtterance(draft);
  changeReply(draft, { isToolRunning: true, isToolBridged: false });
  act(draft, { kind: 'cancel-timer', timer: 'reply' }, { kind: 'run-tool', reply: reply.id, call });
  watchTool(draft, call);
}

/** Audio in progress is played to its end; the apology comes after it. */
function apologise(draft: Draft, reply: Reply, atMs: number): void {
  const { apology } = draft.state.rules.phrases;
  if (reply.pieces.length === 0) {
    dropReply(draft, atMs);
    sayPhrase(draft, 'apology', apology);
    return;
  }
  changeReply(draft, { isModelDone: true, calls: [] });
  addClause(draft, apology);
}

function currentReply(draft: Draft, id: number): Reply | null {
  const { reply } = draft.state;
  return reply?.id === id ? reply : null;
}

/** Waits for a tool that has just been started, unless the words before it have said that it takes a moment. */
function watchTool(draft: Draft, call: ToolCall): void {
  const { rules } = draft.state;
  if (rules.isAfterWords(call)) return;
  act(draft, { kind: 'set-timer', timer: 'filler', delayMs: rules.timing.fillerMs });
}

/** The tool is still running: says the filler, or waits until the agent is silent. A tool that takes longer gets another filler. */
export function onFillerTimer(draft: Draft, atMs: number): void {
  const { reply, rules, utterance } = draft.state;
  const call = reply?.calls[0];
  if (!isAgentsFloor(reply) || !reply.isToolRunning || call === undefined) return;
  if (rules.isAfterWords(call)) return;
  const { fillerMs, patienceMs } = rules.timing;
  const restMs = unplayedMs(reply, atMs);
  if (restMs > 0 || utterance !== null) {
    act(draft, { kind: 'set-timer', timer: 'filler', delayMs: restMs + fillerMs });
    return;
  }
  const { filler, patience } = rules.phrases;
  const first = rules.sayWhileWaiting?.(call) ?? filler;
  const next = lastBridge(reply) === patience ? filler : patience;
  const text = reply.isToolBridged ? next : first;
  bridge(draft, text, atMs);
  changeReply(draft, { isToolBridged: true });
  const delayMs = text === patience ? AFTER_PATIENCE * patienceMs : patienceMs;
  act(draft, { kind: 'set-timer', timer: 'filler', delayMs });
}

/** The sentence of patience takes 3 to 4 s to say: 2 to 3 s of silence follow. */
const AFTER_PATIENCE = 1.2;

function lastBridge({ pieces }: Reply): string | undefined {
  return pieces.findLast(({ isBridge }) => isBridge === true)?.text;
}

/** The model is slow: bridges the silence, and again as long as it goes on. Never over the caller. */
export function onModelWaits(draft: Draft, event: TurnEventOf<'model-waits'>): void {
  const reply = currentReply(draft, event.reply);
  const { rules, utterance } = draft.state;
  if (!isAgentsFloor(reply) || reply.stage === 'held' || utterance !== null) return;
  if (reply.isModelDone || unplayedMs(reply, event.atMs) > 0) return;
  const { modelFillerMs, patienceMs } = rules.timing;
  if (reply.bridgedAtMs === null) {
    if (event.waitedMs >= modelFillerMs) bridge(draft, rules.phrases.filler, event.atMs);
    return;
  }
  const { filler, patience } = rules.phrases;
  const pauseMs = patienceMs - modelFillerMs;
  const isAfterPatience = lastBridge(reply) === patience;
  const sinceMs = event.atMs - reply.bridgedAtMs;
  const isDue = sinceMs >= (isAfterPatience ? AFTER_PATIENCE * patienceMs : pauseMs);
  if (!isDue || event.waitedMs < pauseMs) return;
  // The sentence once: the apology after 15 s would wait for its end.
  const hasPatience = reply.pieces.some(({ text }) => text === patience);
  bridge(draft, hasPatience ? filler : patience, event.atMs);
}

/** Time until the reply's clauses so far have been played, in milliseconds. */
export function unplayedMs(reply: Reply, atMs: number): number {
  const isComing = reply.pieces.some(({ isWhole }) => !isWhole);
  const restMs = audioMsOf(reply.pieces) - playedMsAt(reply, atMs);
  return isComing ? Math.max(1, restMs) : Math.max(0, restMs);
}
