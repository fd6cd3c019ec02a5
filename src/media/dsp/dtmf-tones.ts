/** The sound of the telephone keys: two tones each, by row and column; pure */
import { PRESS_SAMPLES } from '../../rtp/dtmf.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

/** @see ITU-T Q.23 */
export const ROWS_HZ = [697, 770, 852, 941] as const;
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
