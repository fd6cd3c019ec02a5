/** Life cycle of a reply in the turn machine: begin, speak, settle, drop; pure */
import type { ChatMessage, ToolCall } from '../../llm/language-model.ts';
import type { ConversationEnd } from '../conversation-port.ts';
import {
  audioMsOf,
  heardOwnWords,
  heardWords,
  ownWords,
  type Piece,
} from '../history/heard-words.ts';
import {
  act,
  change,
  changeReply,
  type Draft,
  isAgentsFloor,
  type Reply,
  type ReplyKind,
  type ReplyStage,
  reportTurn,
} from '../turn/turn-state.ts';

const BROKEN_OFF =
  'Broken off, because the caller went on speaking. It is not known whether it was done: ask the caller before doing it again.';

const STILL_CALLING =
  'The other party is still being called, and will hear the caller as soon as it answers. This cannot be stopped.';

const CAME_TO_ITS_END =
  'It was done all the same, after the caller went on speaking; tell them if they do not know. Its result:';

/** Makes an empty reply the current one. The one before it must be gone. */
export function beginReply(
  draft: Draft,
  options: { readonly kind: ReplyKind; readonly stage: ReplyStage; readonly forText?: string },
): number {
  const id = draft.state.lastReplyId + 1;
  const reply: Reply = {
    id,
    kind: options.kind,
    stage: options.stage,
    forText: options.forText ?? '',
    pieces: [],
    isModelDone: false,
    isFinished: false,
    calls: [],
    isToolRunning: false,
    held: [],
    bridgedAtMs: null,
    isToolBridged: false,
    rounds: 0,
    sources: [],
    exchange: [],
    startedAtMs: null,
    playingSinceMs: 0,
    playedMs: 0,
    firstTokenAtMs: null,
    firstClauseAtMs: null,
    firstAudioAtMs: null,
    after: null,
  };
  change(draft, { reply, lastReplyId: id });
  return id;
}

/** Says a set phrase, and then ends the conversation as `after` says; null goes on with it. */
export function sayPhrase(
  draft: Draft,
  kind: ReplyKind,
  text: string,
  after: ConversationEnd | null = null,
): void {
  sayClauses(draft, kind, [text], after);
}

/** Says clauses that are all known. */
export function sayClauses(
  draft: Draft,
  kind: ReplyKind,
  clauses: readonly string[],
  after: ConversationEnd | null = null,
): void {
  const id = beginReply(draft, { kind, stage: 'released' });
  changeReply(draft, { isModelDone: true, after });
  act(draft, { kind: 'release', reply: id });
  for (const clause of clauses) addClause(draft, clause);
  finishReply(draft);
  watchReply(draft);
}

/** Adds a clause; of a speculative answer only the first one is synthesised. */
export function addClause(draft: Draft, text: string): void {
  addPiece(draft, { text, audioMs: 0, isWhole: false });
}

function addPiece(draft: Draft, piece: Piece): void {
  const { reply } = draft.state;
  if (reply === null) return;
  const clause = reply.pieces.length;
  changeReply(draft, { pieces: [...reply.pieces, piece] });
  if (clause === 0 || reply.stage !== 'speculative') {
    act(draft, { kind: 'voice', reply: reply.id, clause, text: piece.text });
  }
}

/** Says that it takes a moment. */
export function bridge(draft: Draft, text: string, atMs: number): void {
  changeReply(draft, { bridgedAtMs: atMs });
  addPiece(draft, { text, audioMs: 0, isWhole: false, isBridge: true });
}

/** Whether a reply has no words yet except a filler, which is no answer. */
export function isUnsaid({ pieces }: Reply): boolean {
  return ownWords(pieces).length === 0;
}

/** Says that the reply has no more clauses. */
export function finishReply(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null) return;
  changeReply(draft, { isFinished: true });
  act(draft, { kind: 'finish', reply: reply.id });
}

/** Gives the reply some time for its next step. */
export function watchReply(draft: Draft): void {
  const delayMs = draft.state.rules.timing.replyMsMax;
  act(draft, { kind: 'set-timer', timer: 'reply', delayMs });
}

/** Releases a speculative or held reply for playout. */
export function releaseReply(draft: Draft): void {
  const { reply } = draft.state;
  if (reply === null || (reply.stage !== 'speculative' && reply.stage !== 'held')) return;
  changeReply(draft, { stage: 'released' });
  act(draft, { kind: 'release', reply: reply.id });
  if (reply.stage === 'held') return;
  reply.pieces.forEach(({ text }, clause) => {
    if (clause > 0) act(draft, { kind: 'voice', reply: reply.id, clause, text });
  });
}

/** Stops the reply. Its words that were heard stay in the history. */
export function dropReply(draft: Draft, atMs: number): void {
  const { reply } = draft.state;
  if (reply === null) return;
  act(draft, { kind: 'drop', reply: reply.id });
  settleReply(draft, playedMsAt(reply, atMs), atMs);
}

/** Removes the reply from the state, and adds its words that were heard to the history and the transcript. */
export function settleReply(draft: Draft, playedMs: number, atMs: number): void {
  const { reply } = draft.state;
  if (reply === null) return;
  act(draft, { kind: 'cancel-timer', timer: 'reply' });
  if (reply.isToolRunning) act(draft, { kind: 'cancel-timer', timer: 'filler' });
  reportTurn(draft);
  const text = heardWords(reply.pieces, playedMs);
  const isCut = text !== heardWords(reply.pieces, Number.POSITIVE_INFINITY);
  const broken = brokenOff(reply, draft.state.isTransferPending);
  const history = [...draft.state.history, ...reply.exchange, ...broken];
  const own = heardOwnWords(reply.pieces, playedMs);
  if (own !== '') history.push({ role: 'assistant', content: isCut ? `${own} …` : own });
  change(draft, { reply: null, history: [...history, ...draft.state.waiting], waiting: [] });
  if (text !== '' && reply.sources.length > 0) {
    const { sources } = reply;
    act(draft, { kind: 'emit', event: { kind: 'knowledge', sources } });
  }
  if (text !== '') {
    const at = new Date(reply.startedAtMs ?? atMs);
    act(draft, {
      kind: 'emit',
      event: { kind: 'said', entry: { role: 'agent', text, at } },
    });
  }
}

/** A tool that was at work when its reply was dropped may have done its part: the model is not to do it twice unaware. */
function brokenOff(reply: Reply, isTransferPending: boolean): readonly ChatMessage[] {
  const [call] = reply.calls;
  if (!reply.isToolRunning || call === undefined) return [];
  const isCalling = isTransferPending && call.name === 'transfer_call';
  const content = isCalling ? STILL_CALLING : BROKEN_OFF;
  return [
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', toolCallId: call.id, name: call.name, content },
  ];
}

/** Gives the model the result of a tool that was broken off, and was done all the same. */
export function settleBrokenOff(draft: Draft, { id }: ToolCall, text: string): void {
  const history = draft.state.history.map((message) =>
    message.role === 'tool' && message.toolCallId === id && message.content === BROKEN_OFF
      ? { ...message, content: `${CAME_TO_ITS_END} ${text}` }
      : message,
  );
  change(draft, { history });
}

/** Puts words of the caller into the history: after the reply, while the agent keeps the floor. */
export function addToHistory(draft: Draft, text: string): void {
  const { history, reply, waiting } = draft.state;
  const message = { role: 'user', content: text } as const;
  if (isAgentsFloor(reply)) change(draft, { waiting: [...waiting, message] });
  else change(draft, { history: [...history, message] });
}

/** How much of the reply has been played at an instant, from the last report and the time since. */
export function playedMsAt(reply: Reply, atMs: number): number {
  if (reply.startedAtMs === null) return 0;
  if (reply.stage !== 'playing') return reply.playedMs;
  return Math.min(audioMsOf(reply.pieces), Math.max(0, atMs - reply.playingSinceMs));
}
