/** What happens on calls, as the live view tells it; pure */
import type { Call, TranscriptEntry } from '../../domain/call/call.ts';
import type { CallLevels, LiveCallEvent } from '../../domain/call/live-sound.ts';
import type { LiveEvent } from '../schemas/live-schemas.ts';
import {
  serializeCallCommon,
  serializeTimelineEntry,
  serializeTranscriptEntry,
} from './call-serializer.ts';

/** How a view begins: the calls that go on. @param transcript of the one call that is watched alone. */
export function snapshotOf(
  calls: readonly Call[],
  queuedCalls: number,
  transcript?: readonly TranscriptEntry[],
): LiveEvent {
  const views = calls.map((call) => ({
    ...serializeCallCommon(call),
    ...(transcript === undefined ? {} : { transcript: transcript.map(serializeTranscriptEntry) }),
  }));
  return { event: 'snapshot', data: { calls: views, queuedCalls } };
}

export function liveEventOf(event: LiveCallEvent): LiveEvent {
  switch (event.kind) {
    case 'call':
      return { event: 'call', data: serializeCallCommon(event.call) };
    case 'said': {
      const { callId, entry } = event;
      return { event: 'said', data: { callId, entry: serializeTranscriptEntry(entry) } };
    }
    case 'timeline': {
      const { callId, entry } = event;
      return { event: 'timeline', data: { callId, entry: serializeTimelineEntry(entry) } };
    }
    case 'hearing': {
      const { callId, text } = event;
      return { event: 'hearing', data: { callId, text } };
    }
    default:
      return event satisfies never;
  }
}

/** How loud calls are. */
export function levelsEventOf(levels: readonly CallLevels[]): LiveEvent {
  const views = levels.map(({ callId, callerDbfs, agentDbfs }) => ({
    ...{ callId, caller: callerDbfs, agent: agentDbfs },
  }));
  return { event: 'levels', data: { levels: views } };
}

/** Which call it is about. */
export function callIdOf(event: LiveCallEvent): string {
  return event.kind === 'call' ? event.call.id : event.callId;
}
