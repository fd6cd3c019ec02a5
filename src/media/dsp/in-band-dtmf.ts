/** In-band DTMF: the two tones of each telephone key, made by row and column, and found in sound with Goertzel filters; pure */
import { PRESS_SAMPLES, type PressedDigit } from '../../rtp/dtmf.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

/** @see ITU-T Q.23 */
export const ROWS_HZ = [697, 770, 852, 941] as const;

/** Frequencies of the columns. @see ITU-T Q.23 */
export const COLUMNS_HZ = [1209, 1336, 1477, 1633] as const;

/** Rows of four columns. */
export const KEYS = '123A456B789C*0#D';

const SILENT_FRAME: Int16Array = new Int16Array(FRAME_SAMPLES);

/** A full-scale sine is +3.14 dBm0. */
const FULL_SCALE = 32_768;
const FULL_SCALE_DBM0 = 3.14;

/** Usual levels of a telephone: the upper tone is 2 dB louder, since lines weaken it more. */
const ROW_DBM0 = -10;
const COLUMN_DBM0 = -8;

/** 5 ms, without which a tone begins and ends with a click. */
const EDGE_SAMPLES = 40;

/** Sound of the keys that agents press, by key. */
const pressed = new Map<string, Int16Array>();

/** A frame of a key's sound. @param from its place in a press of `PRESS_SAMPLES`; afterwards there is silence. */
export function keyToneFrame(key: string, from: number): Int16Array {
  const tone = pressed.get(key) ?? keyTone(key, PRESS_SAMPLES);
  pressed.set(key, tone);
  return from < PRESS_SAMPLES ? tone.subarray(from, from + FRAME_SAMPLES) : SILENT_FRAME;
}

/** Sound of a key. @param key one of `KEYS`. */
export function keyTone(key: string, samples: number): Int16Array {
  const index = KEYS.indexOf(key);
  const row = toneOf(ROWS_HZ[index >> 2] ?? 0, ROW_DBM0);
  const column = toneOf(COLUMNS_HZ[index & 3] ?? 0, COLUMN_DBM0);
  return Int16Array.from({ length: samples }, (_, at) => {
    const gain = Math.min(1, (at + 1) / EDGE_SAMPLES, (samples - at) / EDGE_SAMPLES);
    return Math.round(gain * (row(at) + column(at)));
  });
}

/** A sine, by sample. */
export function toneOf(hertz: number, levelDbm0: number): (at: number) => number {
  const amplitude = FULL_SCALE * 10 ** ((levelDbm0 - FULL_SCALE_DBM0) / 20);
  return (at) => amplitude * Math.sin((2 * Math.PI * hertz * at) / LINE_RATE_HZ);
}

/** 12.75 ms: long enough to tell two neighbouring tones apart, short enough to bear tones that are 1.5 % off. */
const WINDOW_SAMPLES = 102;
const HOP_SAMPLES = WINDOW_SAMPLES / 2;

/** Windows in a row with the same key that are a press: 32 ms. 40 ms are to be heard, under 23 ms are not. Q.24. */
const HITS_NEEDED = 4;

/** Time without the key that ends it: four windows; an interruption of 10 ms does not. Q.24. */
const GAP_SAMPLES_NEEDED = 4 * HOP_SAMPLES;

/** Windows without the key that end it after a loss: the first window is cross-faded. */
const MISSES_NEEDED = 2;

/** Quieter tones are not heard: -36 dBm0 each. */
const TONE_ENERGY_MIN = 362 ** 2 / 2;

/** How much louder the lower or the upper tone may be: 8 and 4 dB, and 2 dB more for tones that are off and for leakage. */
const ROW_LOUDER_MAX = 10 ** 1.05;
const COLUMN_LOUDER_MAX = 10 ** 0.6;

/** Least ratio of the strongest tone's energy to that of the others in its group. */
const PEAK_MIN = 10 ** 0.6;

/** Least share of the two tones in all energy: a voice has other parts. White noise 5 dB below leaves 76 %. */
const SHARE_MIN = 0.55;

/** Largest share of a second harmonic in all energy: harmonics of a voice are strong. */
const HARMONIC_MAX = 0.15;

/** Tones may be off by 1.5 %: by 25 Hz. */
const HARMONIC_APART_HZ = 25;

/** One direction of one call, fed in the order of the sound. @see ITU-T Q.24 */
export class DtmfDetector {
  readonly #window = new Float64Array(WINDOW_SAMPLES);
  #filled = 0;
  /** Key of the newest windows, and how many in a row. */
  #candidate: string | undefined;
  #hits = 0;
  /** Key that is down. */
  #pressed: string | undefined;
  #pressedSamples = 0;
  /** Windows in a row without the key that is down, and the time since the last one with it. */
  #misses = 0;
  #gapSamples = 0;
  #isTone = false;

  /** Whether the newest sound held a key's tones: they are kept from recognition and from joined sessions. */
  get isTone(): boolean {
    return this.#isTone;
  }

  /** Takes sound of any length. @returns the keys that were released in it. */
  hear(pcm: Int16Array): readonly PressedDigit[] {
    const digits: PressedDigit[] = [];
    this.#isTone = this.#isDown;
    const window = this.#window;
    let filled = this.#filled;
    // Sample by sample: for so few, a view and a copy by built-in functions take longer.
    for (let at = 0; at < pcm.length; at += 1) {
      window[filled] = pcm[at] ?? 0;
      filled += 1;
      if (filled < WINDOW_SAMPLES) continue;
      const digit = this.#judge(keyIn(window));
      if (digit !== undefined) digits.push(digit);
      filled = WINDOW_SAMPLES - HOP_SAMPLES;
      for (let kept = 0; kept < filled; kept += 1) window[kept] = window[kept + HOP_SAMPLES] ?? 0;
    }
    this.#filled = filled;
    return digits;
  }

  /** Skips lost samples: they neither begin nor end a key. @returns the key that was released before. */
  lose(samples: number): readonly PressedDigit[] {
    this.#filled = 0;
    this.#isTone = this.#isDown;
    if (this.#pressed === undefined) return [];
    this.#pressedSamples += samples;
    this.#gapSamples += samples;
    return this.#isLetGo ? [this.#release()] : [];
  }

  /** Whether a key is down, as far as is known. */
  get #isDown(): boolean {
    return this.#pressed !== undefined && this.#misses <= 1;
  }

  get #isLetGo(): boolean {
    return this.#misses >= MISSES_NEEDED && this.#gapSamples >= GAP_SAMPLES_NEEDED;
  }

  #judge(key: string | undefined): PressedDigit | undefined {
    this.#hits = key !== undefined && key === this.#candidate ? this.#hits + 1 : 1;
    this.#candidate = key;
    if (key !== undefined) this.#isTone = true;
    if (this.#pressed !== undefined) this.#pressedSamples += HOP_SAMPLES;
    const isHeard = key === this.#pressed;
    this.#misses = isHeard ? 0 : this.#misses + 1;
    this.#gapSamples = isHeard ? 0 : this.#gapSamples + HOP_SAMPLES;
    const isNext = key !== undefined && key !== this.#pressed && this.#hits === HITS_NEEDED;
    const isOver = this.#pressed !== undefined && (isNext || this.#isLetGo);
    const digit = isOver ? this.#release() : undefined;
    if (isNext) this.#press(key);
    return digit;
  }

  #press(key: string): void {
    this.#pressed = key;
    this.#pressedSamples = WINDOW_SAMPLES + (HITS_NEEDED - 1) * HOP_SAMPLES;
    this.#misses = 0;
    this.#gapSamples = 0;
  }

  #release(): PressedDigit {
    const samples = this.#pressedSamples - this.#gapSamples;
    const digit = this.#pressed ?? '';
    this.#pressed = undefined;
    return { digit, durationMs: Math.round((samples * 1000) / LINE_RATE_HZ) };
  }
}

/** Energies of sines are mean squares of their samples. */
function keyIn(window: Float64Array): string | undefined {
  const energy = energyOf(window);
  if (energy < 2 * TONE_ENERGY_MIN * SHARE_MIN) return undefined;
  const rows = energiesAt(window, ROW_FILTERS);
  const row = peakIn(rows);
  if (row === undefined) return undefined;
  const columns = energiesAt(window, COLUMN_FILTERS);
  const column = peakIn(columns);
  if (column === undefined) return undefined;
  const pair = { row: rows[row] as number, column: columns[column] as number };
  if (!isPair(pair, energy)) return undefined;
  const key = row * COLUMNS_HZ.length + column;
  const harmonics = (HARMONIC_FILTERS[key] ?? []).map((filter) => energyAt(window, filter));
  const isVoice = harmonics.some((harmonic) => harmonic > HARMONIC_MAX * energy);
  return isVoice ? undefined : KEYS[key];
}

function energyOf(window: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < WINDOW_SAMPLES; at += 1) sum += (window[at] as number) ** 2;
  return sum / WINDOW_SAMPLES;
}

function isPair(
  { row, column }: { readonly row: number; readonly column: number },
  energy: number,
): boolean {
  const hasTwist = row > ROW_LOUDER_MAX * column || column > COLUMN_LOUDER_MAX * row;
  return !hasTwist && row + column >= SHARE_MIN * energy;
}

/** The tone of a group that is loud enough and stands out. */
function peakIn(energies: readonly number[]): number | undefined {
  let peak = 0;
  let energy = energies[0] as number;
  for (let index = 1; index < energies.length; index += 1) {
    const other = energies[index] as number;
    if (other > energy) [peak, energy] = [index, other];
  }
  const isPeak = energies.every((other, index) => index === peak || energy >= PEAK_MIN * other);
  return isPeak && energy >= TONE_ENERGY_MIN ? peak : undefined;
}

/** The coefficients of a group of four tones. */
type FilterGroup = readonly [number, number, number, number];

const ROW_FILTERS = groupOf(ROWS_HZ);
const COLUMN_FILTERS = groupOf(COLUMNS_HZ);

/** Filters for harmonics of each key's tones; the lower tone's is left out where the filter would hear the upper tone. */
const HARMONIC_FILTERS = [...KEYS].map((_, key) => {
  const row = ROWS_HZ[Math.floor(key / COLUMNS_HZ.length)] ?? 0;
  const column = COLUMNS_HZ[key % COLUMNS_HZ.length] ?? 0;
  const isApart = Math.abs(2 * row - column) > LINE_RATE_HZ / WINDOW_SAMPLES + HARMONIC_APART_HZ;
  return [2 * column, ...(isApart ? [2 * row] : [])].map(filterOf);
});

/** Coefficient of the Goertzel filter of a frequency. */
function filterOf(hertz: number): number {
  return 2 * Math.cos((2 * Math.PI * hertz) / LINE_RATE_HZ);
}

function groupOf(tonesHz: readonly number[]): FilterGroup {
  const [first = 0, second = 0, third = 0, fourth = 0] = tonesHz.map(filterOf);
  return [first, second, third, fourth];
}

/** `energyAt` of four filters at once: while one waits for its own last sample, the processor works on the others. */
function energiesAt(window: Float64Array, [c0, c1, c2, c3]: FilterGroup): readonly number[] {
  let a0 = 0;
  let a1 = 0;
  let a2 = 0;
  let a3 = 0;
  let b0 = 0;
  let b1 = 0;
  let b2 = 0;
  let b3 = 0;
  for (let at = 0; at < WINDOW_SAMPLES; at += 1) {
    const sample = window[at] as number;
    const n0 = sample + c0 * a0 - b0;
    const n1 = sample + c1 * a1 - b1;
    const n2 = sample + c2 * a2 - b2;
    const n3 = sample + c3 * a3 - b3;
    b0 = a0;
    b1 = a1;
    b2 = a2;
    b3 = a3;
    a0 = n0;
    a1 = n1;
    a2 = n2;
    a3 = n3;
  }
  return [
    meanSquare(a0, b0, c0),
    meanSquare(a1, b1, c1),
    meanSquare(a2, b2, c2),
    meanSquare(a3, b3, c3),
  ];
}

/** Mean square of the window's part at a filter's frequency. */
function energyAt(window: Float64Array, coefficient: number): number {
  let last = 0;
  let lastButOne = 0;
  for (let at = 0; at < WINDOW_SAMPLES; at += 1) {
    const next = (window[at] as number) + coefficient * last - lastButOne;
    lastButOne = last;
    last = next;
  }
  return meanSquare(last, lastButOne, coefficient);
}

/** Mean square of a tone, from the last two states of its Goertzel filter. */
function meanSquare(last: number, lastButOne: number, coefficient: number): number {
  const power = last * last + lastButOne * lastButOne - coefficient * last * lastButOne;
  return (2 * power) / WINDOW_SAMPLES ** 2;
}
