/** What stands between and behind the words of a transcript: tools, interruptions, transfers, and times to answer; pure */
import type { TimelineEntry, TranscriptEntry } from '../api-types.ts';

export interface TranscriptNotes {
  /** Milliseconds from the caller's last word to the agent's first sound, by the place of the entry that answers. */
  readonly answersMs: ReadonlyMap<number, number>;
  /** What happened before the entry at a place; the number of entries is the place behind the last. */
  readonly events: ReadonlyMap<number, readonly TimelineEntry[]>;
}

const KINDS: readonly string[] = [
  'tool',
  'barge_in',
  'transfer',
  'transfer_failed',
  'far_end_transfer',
  'three_way',
  'three_way_ended',
  'bridge_ended',
];

/** A turn is reported as its answer begins to be heard, give or take this much. */
const APART_MS_MAX = 1000;

export function notesOf(
  words: readonly TranscriptEntry[],
  timeline: readonly TimelineEntry[],
): TranscriptNotes {
  const answersMs = new Map<number, number>();
  const events = new Map<number, TimelineEntry[]>();
  for (const entry of timeline) {
    const answerMs = entry.details.firstPacketMs;
    if (entry.kind === 'turn' && typeof answerMs === 'number') {
      const index = answeredAt(words, Date.parse(entry.timestamp));
      if (index !== undefined) answersMs.set(index, answerMs);
    }
    if (!KINDS.includes(entry.kind)) continue;
    const place = placeOf(words, Date.parse(entry.timestamp));
    events.set(place, [...(events.get(place) ?? []), entry]);
  }
  return { answersMs, events };
}

/** The agent's entry that begins nearest to an instant. */
function answeredAt(words: readonly TranscriptEntry[], atMs: number): number | undefined {
  const near = words
    .map(({ role, timestamp }, index) => ({
      role,
      index,
      apartMs: Math.abs(Date.parse(timestamp) - atMs),
    }))
    .filter(({ role, apartMs }) => role === 'agent' && apartMs <= APART_MS_MAX)
    .sort((one, other) => one.apartMs - other.apartMs);
  return near[0]?.index;
}

/** Before the first words that begin later. */
function placeOf(words: readonly TranscriptEntry[], atMs: number): number {
  const index = words.findIndex(({ timestamp }) => Date.parse(timestamp) > atMs);
  return index === -1 ? words.length : index;
}

/** The words as plain text, a line each, to be copied. @param nameOf says who spoke. */
export function transcriptText(
  words: readonly TranscriptEntry[],
  nameOf: (role: TranscriptEntry['role']) => string,
): string {
  return words.map(({ role, text }) => `${nameOf(role)}: ${text}`).join('\n');
}
