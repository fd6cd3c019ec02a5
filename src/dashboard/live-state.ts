/** State of the live view, and its changes by events of the stream; pure */

import type { SseEvent } from './api-client.ts';
import type { CallCommon, TimelineEntry, TranscriptEntry } from './api-types.ts';
import type { Levels } from './meter-board.ts';

/** Entries kept of each call: the whole transcript is on the call's own page. */
const WORDS_MAX = 200;

/** Ended calls that stay on the page. */
const ENDED_MAX = 10;

export interface LiveCall extends CallCommon {
  readonly transcript: readonly TranscriptEntry[];
  /** Interim result of the caller's speech; empty for none. */
  readonly hearing: string;
}

export interface LiveState {
  readonly calls: readonly LiveCall[];
  readonly queuedCalls: number;
}

export const NOTHING_LIVE: LiveState = { calls: [], queuedCalls: 0 };

interface Snapshot {
  readonly calls: readonly (CallCommon & { readonly transcript?: readonly TranscriptEntry[] })[];
  readonly queuedCalls: number;
}

export function isOver({ status }: Pick<CallCommon, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/** The state after an event; unknown kinds of events change nothing. */
export function afterEvent(state: LiveState, { event, data }: SseEvent): LiveState {
  switch (event) {
    case 'snapshot':
      return afterSnapshot(state, JSON.parse(data) as Snapshot);
    case 'call':
      return afterCall(state, JSON.parse(data) as CallCommon);
    case 'said': {
      const { callId, entry } = JSON.parse(data) as { callId: string; entry: TranscriptEntry };
      return changed(state, callId, (call) => ({
        ...call,
        transcript: [...call.transcript, entry].slice(-WORDS_MAX),
        hearing: entry.role === 'user' ? '' : call.hearing,
      }));
    }
    case 'hearing': {
      const { callId, text } = JSON.parse(data) as { callId: string; text: string };
      return changed(state, callId, (call) => ({ ...call, hearing: text }));
    }
    default:
      return state;
  }
}

/** State after a snapshot. Transcripts that it lacks are kept as known: a stream may have been cut off. */
function afterSnapshot(state: LiveState, { calls, queuedCalls }: Snapshot): LiveState {
  const known = new Map(state.calls.map((call) => [call.id, call]));
  return {
    queuedCalls,
    calls: calls.map((call) => ({
      ...call,
      transcript: call.transcript ?? known.get(call.id)?.transcript ?? [],
      hearing: '',
    })),
  };
}

function afterCall(state: LiveState, call: CallCommon): LiveState {
  if (call.status === 'queued') return state;
  const before = state.calls.find(({ id }) => id === call.id);
  const now = { ...call, transcript: before?.transcript ?? [], hearing: '' };
  const others = state.calls.filter(({ id }) => id !== call.id);
  if (!isOver(call)) {
    const calls =
      before === undefined
        ? [now, ...others]
        : state.calls.map((call) => (call.id === now.id ? now : call));
    return { ...state, calls };
  }
  const ended = [now, ...others.filter(isOver)].slice(0, ENDED_MAX);
  return { ...state, calls: [...others.filter((other) => !isOver(other)), ...ended] };
}

function changed(state: LiveState, id: string, change: (call: LiveCall) => LiveCall): LiveState {
  return { ...state, calls: state.calls.map((call) => (call.id === id ? change(call) : call)) };
}

/** Undefined for other events. */
export function levelsOf({
  event,
  data,
}: SseEvent): readonly (Levels & { readonly callId: string })[] | undefined {
  if (event !== 'levels') return undefined;
  return (JSON.parse(data) as { levels: readonly (Levels & { callId: string })[] }).levels;
}

/** Reason why a transfer has failed, in the server's words; undefined for other events. */
export function transferFailureOf({ event, data }: SseEvent): string | undefined {
  if (event !== 'timeline') return undefined;
  const { kind, details } = (JSON.parse(data) as { readonly entry: TimelineEntry }).entry;
  return kind === 'transfer_failed' ? String(details.reason) : undefined;
}
