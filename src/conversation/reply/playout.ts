/** The agent's voice on its way to the caller: made, begun, over; pure */

import { audioMsOf } from '../history/heard-words.ts';
import { countFailure, runToolsAfterWords } from '../turn/answering.ts';
import { endNow } from '../turn/ending.ts';
import type { TurnEventOf } from '../turn/turn-event.ts';
import { reportTurn } from '../turn/turn-report.ts';
import { act, change, changeReply, type Draft, type Reply } from '../turn/turn-state.ts';
import { addToHistory, settleReply } from './reply.ts';

/** A "yes" this shortly before the end of the agent's question is the answer to it. */
const ASIDE_MS_MAX = 2000;

export function onVoiced(draft: Draft, event: TurnEventOf<'voiced'>): void {
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

export function onPlayoutStarted(draft: Draft, event: TurnEventOf<'playout-started'>): void {
  const { reply } = draft.state;
  if (reply === null || reply.id !== event.reply || reply.startedAtMs !== null) return;
  const { startedAtMs } = event;
  changeReply(draft, { stage: 'playing', startedAtMs, playingSinceMs: startedAtMs });
  if (reply.isModelDone) act(draft, { kind: 'cancel-timer', timer: 'reply' });
  reportTurn(draft);
}

export function onPlayoutFinished(draft: Draft, event: TurnEventOf<'playout-finished'>): void {
  const { reply } = draft.state;
  if (reply === null || reply.id !== event.reply) return;
  settleReply(draft, event.isComplete ? Number.POSITIVE_INFINITY : event.playedMs, event.atMs);
  if (reply.after !== null) {
    endNow(draft, reply.after, event.atMs);
    return;
  }
  judgeVoice(draft, reply, event.atMs);
  if (draft.state.stage !== 'open' || runToolsAfterWords(draft, reply)) return;
  if (event.isComplete) takeAsideAsAnswer(draft, reply, event.atMs);
}

/** Words without any audio mean that the voice has failed. */
function judgeVoice(draft: Draft, reply: Reply, atMs: number): void {
  if (reply.pieces.length > 0 && audioMsOf(reply.pieces) === 0) {
    countFailure(draft, 'the voice does not speak', atMs);
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
  change(draft, { isOwedAnswer: true, hasCheckedIn: false });
}
