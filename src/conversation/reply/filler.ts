/** A word while a tool takes long: once a turn, and only into silence; pure */
import { audioMsOf } from '../history/heard-words.ts';
import type { TurnRules } from '../turn/turn-rules.ts';
import { act, changeReply, type Draft, isAgentsFloor, type Reply } from '../turn/turn-state.ts';
import { addClause, playedMsAt } from './reply.ts';

/** Waits for a tool that has just been started. */
export function watchTool(draft: Draft): void {
  if (draft.state.reply?.hasFiller !== false) return;
  const delayMs = draft.state.rules.timing.fillerMs;
  act(draft, { kind: 'set-timer', timer: 'filler', delayMs });
}

/** The tool is still at it: says so, or waits until the agent has fallen silent. */
export function onFillerTimer(draft: Draft, atMs: number): void {
  const { reply, rules, utterance } = draft.state;
  if (!isAgentsFloor(reply) || !reply.isToolRunning || reply.hasFiller) return;
  const restMs = unplayedMs(reply, atMs);
  if (restMs > 0 || utterance !== null) {
    act(draft, { kind: 'set-timer', timer: 'filler', delayMs: restMs + rules.timing.fillerMs });
    return;
  }
  changeReply(draft, { hasFiller: true });
  addClause(draft, rules.phrases.filler);
}

/** Whether nothing has been said in a reply but that it takes a moment: that is no answer. */
export function isUnsaid({ pieces }: Reply, { phrases }: TurnRules): boolean {
  return pieces.every(({ text }) => text === phrases.filler);
}

/** What the caller is still to hear of the words before the tool. */
function unplayedMs(reply: Reply, atMs: number): number {
  const isComing = reply.pieces.some(({ isWhole }) => !isWhole);
  const restMs = audioMsOf(reply.pieces) - playedMsAt(reply, atMs);
  return isComing ? Math.max(1, restMs) : Math.max(0, restMs);
}
