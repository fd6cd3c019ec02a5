/** Log-spectral distance: how far a sound is from the one that was sent; pure */

/** 16 ms at 8 kHz, half of it overlapping: shorter than a packet, so that a lost one fills some. */
const WINDOW_SAMPLES = 128;
const HOP_SAMPLES = WINDOW_SAMPLES / 2;

/** Lines of the spectrum from 62 Hz to under 4 kHz. */
const LINES = Array.from({ length: WINDOW_SAMPLES / 2 - 1 }, (_, index) => index + 1);

/** Quieter windows of the sent audio are left out: they have nothing audible to compare. -50 dBFS. */
const QUIET_POWER = 104 ** 2;

/** Quieter lines count as this loud: those of white noise of -60 dBFS. */
const FLOOR_POWER = 33 ** 2 / WINDOW_SAMPLES;

const WEIGHTS = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / WINDOW_SAMPLES),
);

const COSINES = Float64Array.from({ length: WINDOW_SAMPLES }, (_, at) =>
  Math.cos((2 * Math.PI * at) / WINDOW_SAMPLES),
);

/** Mean over the windows that are not quiet, in dB: less is better, and 0 is the same sound. */
export function logSpectralDistanceDb(sent: Int16Array, heard: Int16Array): number {
  let sum = 0;
  let windows = 0;
  for (let from = 0; from + WINDOW_SAMPLES <= sent.length; from += HOP_SAMPLES) {
    const window = sent.subarray(from, from + WINDOW_SAMPLES);
    if (powerOf(window) < QUIET_POWER) continue;
    sum += distanceDb(window, heard.subarray(from, from + WINDOW_SAMPLES));
    windows += 1;
  }
  return sum / windows;
}

function powerOf(window: Int16Array): number {
  return window.reduce((total, sample) => total + sample ** 2, 0) / window.length;
}

function distanceDb(one: Int16Array, other: Int16Array): number {
  if (one.every((sample, at) => sample === other[at])) return 0;
  const squares = LINES.map((line) => (levelDb(one, line) - levelDb(other, line)) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

/** Level of one line of the spectrum. */
function levelDb(window: Int16Array, line: number): number {
  let real = 0;
  let imaginary = 0;
  for (let at = 0; at < WINDOW_SAMPLES; at += 1) {
    const sample = (WEIGHTS[at] as number) * (window[at] as number);
    real += sample * (COSINES[(line * at) % WINDOW_SAMPLES] as number);
    const quarterBefore = (line * at + (3 * WINDOW_SAMPLES) / 4) % WINDOW_SAMPLES;
    imaginary += sample * (COSINES[quarterBefore] as number);
  }
  return 10 * Math.log10((real ** 2 + imaginary ** 2) / WINDOW_SAMPLES ** 2 + FLOOR_POWER);
}
