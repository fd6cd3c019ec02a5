/** A pure tone at 8 kHz, and how loud it is within other sound; pure */

const RATE_HZ = 8000;
/** 20 ms: a whole number of periods of every multiple of 50 Hz, so that such tones do not blur each other. */
const WINDOW_SAMPLES = 160;

/** @returns `durationMs` of a tone; `amplitude` is at most 32,767. */
export function tone(frequencyHz: number, durationMs: number, amplitude: number): Int16Array {
  const turn = (2 * Math.PI * frequencyHz) / RATE_HZ;
  return Int16Array.from({ length: (durationMs * RATE_HZ) / 1000 }, (_, index) =>
    Math.round(amplitude * Math.sin(turn * index)),
  );
}

/** The greatest amplitude that a tone has in any 20 ms of the sound. */
export function loudestAmplitude(pcm: Int16Array, frequencyHz: number): number {
  let loudest = 0;
  for (let start = 0; start + WINDOW_SAMPLES <= pcm.length; start += WINDOW_SAMPLES) {
    const window = pcm.subarray(start, start + WINDOW_SAMPLES);
    loudest = Math.max(loudest, amplitudeIn(window, frequencyHz));
  }
  return loudest;
}

function amplitudeIn(window: Int16Array, frequencyHz: number): number {
  const turn = (2 * Math.PI * frequencyHz) / RATE_HZ;
  let [inPhase, outOfPhase] = [0, 0];
  window.forEach((sample, index) => {
    inPhase += sample * Math.cos(turn * index);
    outOfPhase += sample * Math.sin(turn * index);
  });
  return (2 * Math.hypot(inPhase, outOfPhase)) / window.length;
}
