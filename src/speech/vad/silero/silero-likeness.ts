/** Tells by trying whether two detectors are the same. */
import type { DetectorStream, Vad } from '../vad.ts';
import type { CallMemory } from './silero-batch.ts';

/** Float32 sums in another order differ by less. */
const DIFFERENCE_MAX = 1e-5;

/** What a call is cached by is a sum of many windows; of its size, where that is above 1. */
const STATE_DIFFERENCE_MAX = 1e-4;

/** Long enough that each window's memory shows in the next ones. */
const WINDOWS = 8;

/** One call each: whispered, spoken, and as loud as the line can be. */
const LEVELS = [0.01, 0.15, 0.95] as const;

/** Passes every pitch up to half the rate once in all windows. */
const HIGHEST_PITCH = Math.PI;

interface RememberedStream extends DetectorStream, CallMemory {}

/** A detector whose streams show what they remember. */
export interface OpenDetector extends Vad {
  open(): RememberedStream;
}

/**
 * Plays both the same three calls.
 *
 * @throws {Error} when one of them cannot answer.
 */
export async function answersAlike(one: OpenDetector, other: OpenDetector): Promise<boolean> {
  const calls = LEVELS.map((level) => ({ level, one: one.open(), other: other.open() }));
  for (let window = 0; window < WINDOWS; window += 1) {
    const score = (detector: OpenDetector, name: 'one' | 'other') =>
      detector.score(
        calls.map((call) => ({
          stream: call[name],
          pcm: risingTone(call.level, window, detector.windowSamples),
        })),
      );
    const [scores, others] = await Promise.all([score(one, 'one'), score(other, 'other')]);
    if (!isNear(scores, others, DIFFERENCE_MAX)) return false;
    if (!calls.every((call) => isNear(call.one.state, call.other.state, STATE_DIFFERENCE_MAX))) {
      return false;
    }
  }
  return true;
}

function risingTone(level: number, window: number, samples: number): Float32Array {
  const all = WINDOWS * samples;
  return Float32Array.from({ length: samples }, (_, index) => {
    const at = window * samples + index;
    return level * Math.sin((HIGHEST_PITCH * at * at) / (2 * all));
  });
}

/** What is no number is near nothing. */
function isNear(some: ArrayLike<number>, others: ArrayLike<number>, distance: number): boolean {
  return (
    some.length === others.length &&
    Array.from(some).every(
      (value, index) => Math.abs(value - (others[index] as number)) <= distance,
    )
  );
}
