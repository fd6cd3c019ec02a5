/** Beep detection: finds a single steady tone of 400 to 2000 Hz with silence behind it, as answering machines end their greeting with; pure */
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

/** Behind a beep a machine records: for 300 ms the sound is 10 dB below the beep in the mean, clicks included. The notes of music are followed by others. */
const QUIET_WINDOWS = 15;
const QUIET_POWER_RATIO = 10;

/** Ringing tones of one frequency have 400 to 450 Hz and last 0.75 s and more (ITU-T E.180, supplement 2); beeps are shorter or higher. */
const RINGING_HZ_MAX = 460;
const RINGING_MS_MIN = 700;

/**
 * - `began`: a tone that may be a beep. One of the others follows.
 * - `ended`: it was a beep, and was followed by 300 ms of silence.
 * - `ruled-out`: it is something else, such as a note of music or a ringing tone.
 */
export type BeepEdge = 'began' | 'ended' | 'ruled-out';

/** A steady tone so far. */
interface Tone {
  readonly hertz: number;
  readonly lengthMs: number;
  /** Power of its loudest window. */
  readonly power: number;
}

/** One direction of one call, fed in the order of the sound. */
export class BeepDetector {
  readonly #window = new Float64Array(WINDOW_SAMPLES);
  #filled = 0;
  #tone: Tone | undefined;
  #misses = 0;
  /** Whether `began` was told and not yet what became of it. */
  #isPending = false;
  /** The tone, while the silence behind it is awaited; and the windows after it, with the sum of their power. */
  #ended: Tone | undefined;
  #afterWindows = 0;
  #afterPowers = 0;

  /** Takes 8 kHz sound of any length. @returns the edges of beeps in it, in order. */
  hear(pcm: Int16Array): readonly BeepEdge[] {
    const edges: BeepEdge[] = [];
    for (const sample of pcm) {
      this.#window[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled < WINDOW_SAMPLES) continue;
      this.#filled = 0;
      this.#judge(edges);
    }
    return edges;
  }

  #judge(edges: BeepEdge[]): void {
    const power = powerOf(this.#window);
    this.#awaitSilence(power, edges);
    const hertz = toneIn(this.#window, power);
    if (hertz !== undefined && this.#tone !== undefined && isNear(hertz, this.#tone.hertz)) {
      const lengthMs = this.#tone.lengthMs + WINDOW_MS;
      this.#tone = { ...this.#tone, lengthMs, power: Math.max(this.#tone.power, power) };
      this.#misses = 0;
      this.#goOn(this.#tone, edges);
      return;
    }
    this.#misses += 1;
    if (this.#tone !== undefined && this.#misses < MISSES_MAX) return;
    if (this.#isPending && this.#ended === undefined) {
      this.#ended = this.#tone;
      this.#afterPowers = 0;
      this.#afterWindows = 0;
    }
    this.#tone = hertz === undefined ? undefined : { hertz, lengthMs: WINDOW_MS, power };
    this.#misses = 0;
  }

  #goOn({ hertz, lengthMs }: Tone, edges: BeepEdge[]): void {
    const isRinging = hertz <= RINGING_HZ_MAX && lengthMs >= RINGING_MS_MIN;
    if (isRinging && this.#isPending) this.#settle('ruled-out', edges);
    if (isRinging || this.#isPending || lengthMs < BEEP_MS_MIN) return;
    this.#isPending = true;
    edges.push('began');
  }

  #awaitSilence(power: number, edges: BeepEdge[]): void {
    if (this.#ended === undefined) return;
    this.#afterPowers += power;
    this.#afterWindows += 1;
    if (this.#afterWindows < QUIET_WINDOWS) return;
    const isQuiet = (this.#afterPowers / QUIET_WINDOWS) * QUIET_POWER_RATIO <= this.#ended.power;
    this.#settle(isQuiet ? 'ended' : 'ruled-out', edges);
  }

  #settle(edge: 'ended' | 'ruled-out', edges: BeepEdge[]): void {
    this.#isPending = false;
    this.#ended = undefined;
    edges.push(edge);
  }
}

function isNear(hertz: number, other: number): boolean {
  return Math.abs(hertz - other) <= DRIFT_HZ_MAX;
}

function powerOf(window: Float64Array): number {
  let power = 0;
  for (const sample of window) power += sample * sample;
  return power / WINDOW_SAMPLES;
}

/** Frequency of a window that is one tone and little else; undefined for any other sound. */
function toneIn(window: Float64Array, power: number): number | undefined {
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
