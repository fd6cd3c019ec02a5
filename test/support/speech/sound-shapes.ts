/** Building blocks of sounds at 8 kHz: tones, noise, rhythm, plucked strings; pure. */

/** Samples in a second. */
export const RATE_HZ = 8000;

/** A number from 0 to 1, by chance. */
export type Random = () => number;

/** One sample a call, in order; amplitude 1 is full scale. */
export type Sound = (atSeconds: number) => number;

/** Makes a sound from its own chance. */
export type SoundMaker = (random: Random) => Sound;

const sine = (hertz: number, at: number) => Math.sin(2 * Math.PI * hertz * at);

/** Sines of equal strength; `amplitude` is the sum's highest. */
export function tones(amplitude: number, ...hertz: readonly number[]): SoundMaker {
  return () => (at) =>
    hertz.reduce((sum, each) => sum + (amplitude / hertz.length) * sine(each, at), 0);
}

/** A tone whose frequency swings between two others, so many times a second. */
export function siren(
  amplitude: number,
  lowHz: number,
  highHz: number,
  swingHz: number,
): SoundMaker {
  return () => {
    let phase = 0;
    return (at) => {
      const swing = (1 - Math.cos(2 * Math.PI * swingHz * at)) / 2;
      phase += (lowHz + (highHz - lowHz) * swing) / RATE_HZ;
      return amplitude * Math.sin(2 * Math.PI * phase);
    };
  };
}

/** On and off in turns, in seconds. */
export function cadence(maker: SoundMaker, on: number, off: number): SoundMaker {
  return (random) => {
    const sound = maker(random);
    return (at) => {
      const sample = sound(at);
      return at % (on + off) < on ? sample : 0;
    };
  };
}

/** Sounds one after the other, so many seconds each. */
export function sequence(each: number, ...makers: readonly SoundMaker[]): SoundMaker {
  return (random) => {
    const sounds = makers.map((maker) => maker(random));
    return (at) => sounds[Math.floor(at / each) % sounds.length]?.(at) ?? 0;
  };
}

/** Sounds at once. */
export function mix(...makers: readonly SoundMaker[]): SoundMaker {
  return (random) => {
    const sounds = makers.map((maker) => maker(random));
    return (at) => sounds.reduce((sum, sound) => sum + sound(at), 0);
  };
}

/** White noise. */
export function noise(amplitude: number): SoundMaker {
  return (random) => () => amplitude * (2 * random() - 1);
}

/** Noise around a frequency, by a resonator; `amplitude` is about its highest. */
export function bandNoise(amplitude: number, centreHz: number, widthHz: number): SoundMaker {
  return (random) => {
    const decay = Math.exp((-Math.PI * widthHz) / RATE_HZ);
    const turn = 2 * decay * Math.cos((2 * Math.PI * centreHz) / RATE_HZ);
    // The resonator's gain for noise is about the square root of this.
    const gain = amplitude * Math.sqrt(1 - decay * decay);
    let newest = 0;
    let before = 0;
    return () => {
      const sample = turn * newest - decay * decay * before + (2 * random() - 1);
      before = newest;
      newest = sample;
      return gain * sample;
    };
  };
}

/** Noise that is stronger the lower it is: rumble, wind, traffic. */
export function rumble(amplitude: number, cutHz: number): SoundMaker {
  return (random) => {
    const keep = Math.exp((-2 * Math.PI * cutHz) / RATE_HZ);
    const gain = amplitude / Math.sqrt((1 - keep) / (1 + keep));
    let low = 0;
    return () => {
      low = keep * low + (1 - keep) * (2 * random() - 1);
      return gain * low;
    };
  };
}

/** Bursts that die away, so many times a second; `dying` is how fast. */
export function bursts(maker: SoundMaker, aSecond: number, dying: number): SoundMaker {
  return (random) => {
    const sound = maker(random);
    return (at) => sound(at) * Math.exp(-((at * aSecond) % 1) * dying);
  };
}

/** The sound swells and fades, so many times a second. */
export function swell(maker: SoundMaker, aSecond: number): SoundMaker {
  return (random) => {
    const sound = maker(random);
    return (at) => (sound(at) * (1 - Math.cos(2 * Math.PI * aSecond * at))) / 2;
  };
}

/** Single events at chance instants, so many a second on average, each dying within `lasting` seconds. */
export function events(maker: SoundMaker, aSecond: number, lasting: number): SoundMaker {
  return (random) => {
    const sound = maker(random);
    let level = 0;
    const decay = Math.exp(-4 / (lasting * RATE_HZ));
    return (at) => {
      if (random() < aSecond / RATE_HZ) level = 1;
      level *= decay;
      return level * sound(at);
    };
  };
}

/** Harmonics of a frequency, each weaker by `falling`. */
export function harmonics(
  amplitude: number,
  hertz: number,
  falling: number,
  count = Math.floor(3600 / hertz),
): SoundMaker {
  return () => (at) => {
    let sum = 0;
    for (let order = 1; order <= count; order += 1) {
      sum += (amplitude / order ** falling) * sine(order * hertz, at);
    }
    return sum;
  };
}

/** Plucked strings, one note after the other. @see Karplus and Strong, 1983 */
export function plucked(amplitude: number, notesHz: readonly number[], each: number): SoundMaker {
  return (random) => {
    let string: number[] = [];
    let note = -1;
    let index = 0;
    return (at) => {
      const now = Math.floor(at / each);
      if (now !== note) {
        note = now;
        const length = Math.round(RATE_HZ / (notesHz[now % notesHz.length] ?? 220));
        string = Array.from({ length }, () => 2 * random() - 1);
        index = 0;
      }
      const here = index % string.length;
      const sample = string[here] ?? 0;
      string[here] = 0.498 * (sample + (string[(here + 1) % string.length] ?? 0));
      index += 1;
      return amplitude * sample;
    };
  };
}

/** Numbers from 0 to 1 by a linear congruential generator, the same for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
