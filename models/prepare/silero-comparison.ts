/** Compares two Silero VAD models by their probabilities and states over the same three calls. */
import type { SileroDetector } from '../../src/speech/vad/silero/silero-detector.ts';

/** Float32 sums in another order differ by less. */
const DIFFERENCE_MAX = 1e-5;

/** Of the recurrent state, which adds up over many windows. */
const STATE_DIFFERENCE_MAX = 1e-4;

/** Long enough that each window's state shows in the next ones. */
const WINDOWS = 8;

/** One call each: whispered, spoken, and at full scale. */
const LEVELS = [0.01, 0.15, 0.95] as const;

/** The tone rises to half the sampling rate over all windows. */
const HIGHEST_PITCH = Math.PI;

/** Whether both models give the same probabilities and states. @throws {Error} when one of them fails. */
export async function answersAlike(one: SileroDetector, other: SileroDetector): Promise<boolean> {
  const calls = LEVELS.map((level) => ({ level, one: one.open(), other: other.open() }));
  for (let window = 0; window < WINDOWS; window += 1) {
    const score = (detector: SileroDetector, name: 'one' | 'other') =>
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

/** NaN is near nothing. */
function isNear(some: ArrayLike<number>, others: ArrayLike<number>, distance: number): boolean {
  return (
    some.length === others.length &&
    Array.from(some).every(
      (value, index) => Math.abs(value - (others[index] as number)) <= distance,
    )
  );
}
