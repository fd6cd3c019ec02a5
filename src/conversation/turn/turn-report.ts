/** Reports where the time of a turn went, once its answer is heard or given up; pure */
import type { TurnTimes } from '../conversation-port.ts';
import {
  act,
  change,
  type Draft,
  type EndedTurn,
  isAgentsFloor,
  type Reply,
} from './turn-state.ts';

/** Reports the last ended turn if its answer is the current reply and nobody has reported it. */
export function reportTurn(draft: Draft): void {
  const { endedTurn, reply } = draft.state;
  if (endedTurn === null || !isAgentsFloor(reply) || reply.kind !== 'answer') return;
  // A reply that may not be interrupted is still being heard: the answer to this turn comes after it.
  if (reply.startedAtMs !== null && reply.startedAtMs < endedTurn.lastVoicedAtMs) return;
  change(draft, { endedTurn: null });
  const isFillerFirst = reply.pieces[0]?.text === draft.state.rules.phrases.filler;
  act(draft, {
    kind: 'emit',
    event: { kind: 'turn', times: timesOf(endedTurn, reply, isFillerFirst) },
  });
}

function timesOf(turn: EndedTurn, reply: Reply, isFillerFirst: boolean): TurnTimes {
  const since = (atMs: number | null) =>
    atMs === null ? undefined : Math.max(0, atMs - turn.lastVoicedAtMs);
  const spans = {
    endOfTurnMs: since(turn.endOfTurnAtMs),
    textFinalMs: since(turn.textFinalAtMs),
    turnScoredMs: since(turn.turnScoredAtMs),
    firstTokenMs: since(reply.firstTokenAtMs),
    firstClauseMs: since(reply.firstClauseAtMs),
    firstAudioMs: since(reply.firstAudioAtMs),
    firstPacketMs: since(reply.startedAtMs),
    bargeInMs: turn.bargeInMs ?? undefined,
  };
  const known = Object.entries(spans).filter(([, value]) => value !== undefined);
  return {
    turn: turn.turn,
    ...Object.fromEntries(known),
    speculated: turn.isSpeculated,
    ...(isFillerFirst ? { filler: true } : {}),
    ...(turn.isKeyed ? { keyed: true } : {}),
  };
}
