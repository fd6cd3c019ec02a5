/** What happens on calls, as the live view tells it; pure */
import type { Call, TranscriptEntry } from '../domain/call.ts';
import type { LiveHappening } from '../domain/live-feed.ts';
import type { CallLevels } from '../domain/live-sound.ts';
import { commonView, timelineEntryView, transcriptEntryView } from './call-view.ts';
import type { LiveEvent } from './schemas/live-schemas.ts';

/** How a view begins: the calls that go on. @param transcript of the one call that is watched alone. */
export function snapshotOf(
  calls: readonly Call[],
  queuedCalls: number,
  transcript?: readonly TranscriptEntry[],
): LiveEvent {
  const views = calls.map((call) => ({
    ...commonView(call),
    ...(transcript === undefined ? {} : { transcript: transcript.map(transcriptEntryView) }),
  }));
  return { event: 'snapshot', data: { calls: views, queuedCalls } };
}

export function liveEventOf(happening: LiveHappening): LiveEvent {
  switch (happening.kind) {
    case 'call':
      return { event: 'call', data: commonView(happening.call) };
    case 'said': {
      const { callId, entry } = happening;
      return { event: 'said', data: { callId, entry: transcriptEntryView(entry) } };
    }
    case 'timeline': {
      const { callId, entry } = happening;
      return { event: 'timeline', data: { callId, entry: timelineEntryView(entry) } };
    }
    case 'hearing': {
      const { callId, text } = happening;
      return { event: 'hearing', data: { callId, text } };
    }
    default:
      return happening satisfies never;
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
export function callIdOf(happening: LiveHappening): string {
  return happening.kind === 'call' ? happening.call.id : happening.callId;
}
