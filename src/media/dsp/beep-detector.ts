/** Beep detection: finds a single steady tone of 400 to 2000 Hz, as answering machines end their greeting with; pure */
import { LINE_RATE_HZ } from '../audio-stream.ts';

/** 20 ms, in which Goertzel's filter is 50 Hz wide. */
const WINDOW_SAMPLES = 160;
const WINDOW_MS = (WINDOW_SAMPLES * 1000) / LINE_RATE_HZ;

/** Shorter tones are clicks, vowels and keys. */
const BEEP_MS_MIN = 120;

/** Frames without the tone that end a beep, or its beginning: one is a lost packet. */
const MISSES_MAX = 2;

/** The band in which beeps of machines lie, a filter's width apart; a window's tone is at most half of it off. */
const COARSE_HZ = Array.from({ length: 33 }, (_, index) => 400 + 50 * index);

/** Around the strongest of them: a tone between two steps still gives 95 % of its power. */
const FINE_STEPS_HZ = [-25, -12.5, 0, 12.5, 25];

/** A beep holds its frequency; a voice does not, within 120 ms. */
const DRIFT_HZ_MAX = 25;

/** Least share of the tone in all energy: voices have harmonics, keys and ringing tones a second tone. */
const SHARE_MIN = 0.85;

/** Quieter windows hold no beep: -40 dBFS. */
const POWER_MIN = (32_768 * 0.01) ** 2;

/** Start or end of a beep. */
export type BeepEdge = 'began' | 'ended';

/** One direction of one call, fed in the order of the sound. */
export class BeepDetector {
  readonly #window = new Float64Array(WINDOW_SAMPLES);
  #filled = 0;
  /** Frequency of the tone so far; 0 without one. */
  #hertz = 0;
  #toneMs = 0;
  #misses = 0;
  #isBeeping = false;

  /** Takes 8 kHz sound of any length. @returns the edges of beeps in it, in order. */
  hear(pcm: Int16Array): readonly BeepEdge[] {
    const edges: BeepEdge[] = [];
    for (const sample of pcm) {
      this.#window[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled < WINDOW_SAMPLES) continue;
      this.#filled = 0;
      const edge = this.#judge(toneIn(this.#window));
      if (edge !== undefined) edges.push(edge);
    }
    return edges;
  }

  #judge(hertz: number | undefined): BeepEdge | undefined {
    if (hertz !== undefined && Math.abs(hertz - this.#hertz) <= DRIFT_HZ_MAX) {
      this.#misses = 0;
      this.#toneMs += WINDOW_MS;
      if (this.#isBeeping || this.#toneMs < BEEP_MS_MIN) return undefined;
      this.#isBeeping = true;
      return 'began';
    }
    this.#misses += 1;
    if (this.#toneMs > 0 && this.#misses < MISSES_MAX) return undefined;
    const wasBeeping = this.#isBeeping;
    this.#isBeeping = false;
    this.#misses = 0;
    this.#hertz = hertz ?? 0;
    this.#toneMs = hertz === undefined ? 0 : WINDOW_MS;
    return wasBeeping ? 'ended' : undefined;
  }
}

/** Frequency of a window that is one tone and little else; undefined for any other sound. */
function toneIn(window: Float64Array): number | undefined {
  let power = 0;
  for (const sample of window) power += sample * sample;
  power /= WINDOW_SAMPLES;
  if (power < POWER_MIN) return undefined;
  const near = strongestOf(window, COARSE_HZ);
  const tone = strongestOf(
    window,
    FINE_STEPS_HZ.map((step) => near.hertz + step),
  );
  return tone.power >= SHARE_MIN * power ? tone.hertz : undefined;
}

function strongestOf(window: Float64Array, frequencies: readonly number[]) {
  let strongest = { hertz: 0, power: 0 };
  for (const hertz of frequencies) {
    const power = powerAt(window, hertz);
    if (power > strongest.power) strongest = { hertz, power };
  }
  return strongest;
}

/** Mean square of the window's part at a frequency, by Goertzel's filter. */
function powerAt(window: Float64Array, hertz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hertz) / LINE_RATE_HZ);
  let [last, lastButOne] = [0, 0];
  for (const sample of window) {
    const next = sample + coefficient * last - lastButOne;
    lastButOne = last;
    last = next;
  }
  const energy = last * last + lastButOne * lastButOne - coefficient * last * lastButOne;
  return (2 * energy) / WINDOW_SAMPLES ** 2;
}
