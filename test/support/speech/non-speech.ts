/** Sounds of telephone lines and rooms that are not speech, made by rule at 8 kHz; pure. */

const RATE_HZ = 8000;

/** Amplitude 1 is full scale. */
type Wave = (atSeconds: number, random: () => number) => number;

const sine = (hertz: number, at: number) => Math.sin(2 * Math.PI * hertz * at);

const mixOf =
  (amplitude: number, ...hertz: readonly number[]): Wave =>
  (at) =>
    hertz.reduce((sum, each) => sum + (amplitude / hertz.length) * sine(each, at), 0);

/** On and off in turns, in seconds. */
const cadence =
  (wave: Wave, on: number, off: number): Wave =>
  (at, random) =>
    at % (on + off) < on ? wave(at, random) : 0;

const noise =
  (amplitude: number): Wave =>
  (_at, random) =>
    amplitude * (2 * random() - 1);

/** A burst that dies away within some hundredths of a second, so many times a second. */
const knocks =
  (amplitude: number, aSecond: number, dying: number): Wave =>
  (at, random) =>
    amplitude * Math.exp(-((at * aSecond) % 1) * dying) * (2 * random() - 1);

/** C major, one note after the other. */
const NOTES_HZ = [262, 330, 392, 523, 392, 330];

const arpeggio: Wave = (at) => {
  const note = NOTES_HZ[Math.floor(at * 4) % NOTES_HZ.length] ?? 262;
  const fading = Math.exp(-3 * ((at * 4) % 1));
  return fading * (0.2 * sine(note, at) + 0.1 * sine(2 * note, at) + 0.05 * sine(3 * note, at));
};

/** By name. */
export const NON_SPEECH: Readonly<Record<string, Wave>> = {
  'DTMF 1': cadence(mixOf(0.5, 697, 1209), 0.1, 0.1),
  'DTMF 5': cadence(mixOf(0.5, 770, 1336), 0.1, 0.1),
  'DTMF 9': cadence(mixOf(0.5, 852, 1477), 0.08, 0.08),
  'DTMF #': cadence(mixOf(0.5, 941, 1477), 0.2, 0.3),
  'ringback, Europe': cadence(mixOf(0.3, 425), 1, 4),
  'ringback, North America': cadence(mixOf(0.3, 440, 480), 2, 4),
  'busy, Europe': cadence(mixOf(0.3, 425), 0.5, 0.5),
  'busy, North America': cadence(mixOf(0.3, 480, 620), 0.5, 0.5),
  'dial tone, North America': mixOf(0.3, 350, 440),
  'a tone of 1 kHz': mixOf(0.3, 1000),
  'a fax that calls': cadence(mixOf(0.3, 1100), 0.5, 3),
  'a fax that answers': mixOf(0.3, 2100),
  'a beep': cadence(mixOf(0.4, 1400), 0.3, 2.7),
  'mains hum': mixOf(0.2, 50, 100, 150, 200),
  'white noise': noise(0.05),
  'loud white noise': noise(0.3),
  clicks: knocks(0.8, 2, 60),
  knocking: knocks(0.6, 3, 20),
  typing: knocks(0.3, 7, 40),
  'a chord': mixOf(0.4, 262, 330, 392, 523),
  'an arpeggio': arpeggio,
};

/** @returns 16-bit samples of one of `NON_SPEECH`; the same at each call. */
export function nonSpeech(name: string, seconds: number): Int16Array {
  const wave = NON_SPEECH[name];
  if (wave === undefined) throw new Error(`There is no sound "${name}"`);
  const random = randomFrom(1);
  return Int16Array.from({ length: seconds * RATE_HZ }, (_, index) =>
    Math.round(32_767 * Math.max(-1, Math.min(1, wave(index / RATE_HZ, random)))),
  );
}

/** Numbers from 0 to 1 by a linear congruential generator, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
