/** How long each engine worked on an answer, as the timeline of a call has it; pure */
import type { TimelineEntry } from '../call/call.ts';
import { type AnswerCounts, type AnswerTimes, countTimes, ENGINE_SCALE } from './answer-times.ts';

/** Engines that callers wait for: recogniser, language model, voice. */
export const ANSWER_ENGINES = ['recognition', 'model', 'voice'] as const;

export type AnswerEngine = (typeof ANSWER_ENGINES)[number];

/** Turns by bucket of the time of each engine (`ENGINE_SCALE`). */
export type EngineCounts = Readonly<Record<AnswerEngine, AnswerCounts>>;

/** Percentiles of the time of each engine; null where it had no turn. */
export type EngineTimes = Readonly<Record<AnswerEngine, AnswerTimes | null>>;

/** The marks of a turn, each with the engine that it ends the work of; null is waiting and network. */
const MARKS = [
  ['endOfTurnMs', null],
  ['textFinalMs', 'recognition'],
  ['firstTokenMs', 'model'],
  ['firstClauseMs', 'model'],
  ['firstAudioMs', 'voice'],
  ['firstPacketMs', null],
] as const satisfies readonly (readonly [string, AnswerEngine | null])[];

/** Counts the times of each engine over the turns whose answer was heard. */
export function countEngines(timeline: readonly TimelineEntry[]): EngineCounts {
  const turns = timeline
    .filter(({ kind, details }) => kind === 'turn' && isTime(details.firstPacketMs))
    .map(({ details }) => engineTimesOf(details));
  const countsOf = (engine: AnswerEngine) =>
    countTimes(turns.map((times) => times.get(engine)).filter(isTime), ENGINE_SCALE);
  return {
    recognition: countsOf('recognition'),
    model: countsOf('model'),
    voice: countsOf('voice'),
  };
}

/**
 * Milliseconds that the caller waited for each engine after the last sound. By time and not by kind: an answer that was
 * begun before the end of the turn has its words before it, and the caller did not wait for them.
 */
function engineTimesOf(details: TimelineEntry['details']): ReadonlyMap<AnswerEngine, number> {
  const marks = MARKS.flatMap(([mark, engine]) => {
    const atMs = details[mark];
    return isTime(atMs) && atMs > 0 ? [{ engine, atMs }] : [];
  }).sort((one, other) => one.atMs - other.atMs);
  const times = new Map<AnswerEngine, number>();
  for (const [index, { engine, atMs }] of marks.entries()) {
    const tookMs = atMs - (marks[index - 1]?.atMs ?? 0);
    if (engine !== null) times.set(engine, (times.get(engine) ?? 0) + tookMs);
  }
  return times;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
