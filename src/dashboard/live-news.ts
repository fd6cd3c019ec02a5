/** What the stream tells of live calls besides their state: levels, and transfers that came to nothing; pure */
import type { TimelineEntry } from './api-types.ts';
import type { Levels } from './level-meter.ts';
import type { SseEvent } from './sse.ts';

/** Undefined where the event tells something else. */
export function levelsOf({
  event,
  data,
}: SseEvent): readonly (Levels & { readonly callId: string })[] | undefined {
  if (event !== 'levels') return undefined;
  return (JSON.parse(data) as { levels: readonly (Levels & { callId: string })[] }).levels;
}

/** Why a transfer has failed, in the server's words; undefined where the event tells something else. */
export function transferFailureOf({ event, data }: SseEvent): string | undefined {
  if (event !== 'timeline') return undefined;
  const { kind, details } = (JSON.parse(data) as { readonly entry: TimelineEntry }).entry;
  return kind === 'transfer_failed' ? String(details.reason) : undefined;
}
