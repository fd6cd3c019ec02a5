/** Sounds of telephone lines, rooms, streets and music that are not speech, made by rule at 8 kHz; pure. */
import {
  bandNoise,
  bursts,
  cadence,
  events,
  harmonics,
  mix,
  noise,
  plucked,
  RATE_HZ,
  randomFrom,
  rumble,
  type SoundMaker,
  sequence,
  siren,
  swell,
  tones,
} from './sound-shapes.ts';

const DTMF_ROWS_HZ = [697, 770, 852, 941];
const DTMF_COLUMNS_HZ = [1209, 1336, 1477];
const DTMF_KEYS = '123456789*0#';

/** The keys of a telephone, 100 ms on and off. */
const DTMF = Object.fromEntries(
  [...DTMF_KEYS].map((key, index) => {
    const row = DTMF_ROWS_HZ[Math.floor(index / 3)] ?? 0;
    const column = DTMF_COLUMNS_HZ[index % 3] ?? 0;
    return [`DTMF ${key}`, cadence(tones(0.5, row, column), 0.1, 0.1)];
  }),
);

const LINE: Readonly<Record<string, SoundMaker>> = {
  ...DTMF,
  'a number dialled fast': sequence(
    0.06,
    tones(0.5, 697, 1209),
    tones(0, 1),
    tones(0.5, 852, 1336),
    tones(0, 1),
  ),
  'ringback, Europe': cadence(tones(0.3, 425), 1, 4),
  'ringback, North America': cadence(tones(0.3, 440, 480), 2, 4),
  'ringback, Britain': cadence(cadence(tones(0.3, 400, 450), 0.4, 0.2), 1, 2),
  'busy, Europe': cadence(tones(0.3, 425), 0.5, 0.5),
  'busy, North America': cadence(tones(0.3, 480, 620), 0.5, 0.5),
  'congestion, North America': cadence(tones(0.3, 480, 620), 0.25, 0.25),
  'dial tone, Europe': tones(0.3, 425),
  'dial tone, North America': tones(0.3, 350, 440),
  'number not in service': cadence(
    sequence(0.33, tones(0.3, 950), tones(0.3, 1400), tones(0.3, 1800)),
    0.99,
    1,
  ),
  'call waiting': cadence(tones(0.2, 440), 0.3, 3.7),
  'a tone of 200 Hz': tones(0.3, 200),
  'a tone of 1 kHz': tones(0.3, 1000),
  'a tone of 3 kHz': tones(0.3, 3000),
  'a fax that calls': cadence(tones(0.3, 1100), 0.5, 3),
  'a fax that answers': tones(0.3, 2100),
  'a fax that sends': sequence(1 / 300, tones(0.3, 1650), tones(0.3, 1850), tones(0.3, 1650)),
  'a modem': mix(bandNoise(0.2, 1200, 500), bandNoise(0.2, 2400, 500)),
  'a beep': cadence(tones(0.4, 1400), 0.3, 2.7),
  'a low beep': cadence(tones(0.4, 400), 0.5, 2.5),
  'a chime': bursts(mix(tones(0.2, 660), tones(0.2, 523)), 0.5, 4),
  'crackling on the line': events(noise(0.6), 12, 0.01),
  'feedback that howls': tones(0.8, 2300, 2310),
};

const ROOM: Readonly<Record<string, SoundMaker>> = {
  'mains hum': tones(0.2, 50, 100, 150, 200),
  'white noise': noise(0.05),
  'loud white noise': noise(0.3),
  'pink noise': mix(noise(0.03), rumble(0.08, 300), rumble(0.1, 60)),
  'a fan': mix(rumble(0.12, 250), tones(0.02, 120, 240)),
  'a vacuum cleaner': mix(bandNoise(0.3, 900, 900), tones(0.06, 310, 620)),
  clicks: bursts(noise(0.8), 2, 60),
  knocking: bursts(noise(0.6), 3, 20),
  typing: events(noise(0.3), 7, 0.02),
  'a door': bursts(mix(rumble(0.6, 200), noise(0.2)), 0.5, 12),
  footsteps: bursts(rumble(0.5, 150), 1.8, 15),
  'paper that rustles': events(bandNoise(0.4, 2500, 1500), 6, 0.15),
  'a cough': cadence(
    bursts(mix(bandNoise(0.5, 600, 400), bandNoise(0.4, 1700, 800)), 3, 6),
    0.66,
    2.4,
  ),
  'a sneeze': bursts(mix(bandNoise(0.5, 2000, 1800), noise(0.2)), 0.4, 9),
  'a breath': swell(bandNoise(0.08, 1100, 900), 0.3),
  'a nose that sniffs': cadence(bursts(bandNoise(0.2, 1800, 1200), 2, 5), 0.5, 2),
  'a throat that is cleared': cadence(bursts(bandNoise(0.4, 500, 350), 28, 2), 0.35, 2.6),
  'dishes that clatter': events(tones(0.4, 1870, 2630, 3310), 3, 0.12),
  'an office': mix(
    rumble(0.05, 200),
    events(noise(0.15), 5, 0.02),
    cadence(tones(0.05, 900), 0.2, 3),
  ),
};

const STREET: Readonly<Record<string, SoundMaker>> = {
  traffic: mix(rumble(0.25, 120), swell(bandNoise(0.15, 500, 600), 0.15)),
  'a car from within': mix(rumble(0.3, 80), tones(0.08, 55, 110, 165)),
  'an engine that idles': bursts(rumble(0.5, 180), 26, 3),
  'a horn': cadence(harmonics(0.15, 400, 1, 6), 0.7, 2.3),
  'an ambulance': siren(0.35, 500, 1500, 0.4),
  'a siren of two tones': sequence(0.6, harmonics(0.15, 435, 1, 5), harmonics(0.15, 580, 1, 5)),
  'a truck in reverse': cadence(harmonics(0.2, 1250, 1.5, 2), 0.5, 0.5),
  wind: swell(rumble(0.5, 100), 0.4),
  rain: mix(noise(0.04), events(bandNoise(0.3, 2000, 1500), 60, 0.004)),
  'a train': mix(rumble(0.2, 150), bursts(noise(0.25), 2.2, 14)),
  'a bird': cadence(siren(0.25, 2200, 3400, 9), 0.3, 0.9),
  'a dog': bursts(mix(harmonics(0.25, 520, 1.2, 5), bandNoise(0.2, 1100, 700)), 1.4, 7),
};

/** C major, and a melody in it. */
const CHORD_HZ = [262, 330, 392, 523];
const NOTES_HZ = [262, 330, 392, 523, 392, 330];
const MELODY_HZ = [392, 440, 494, 523, 587, 523, 494, 440, 330, 349, 392, 262];

const note = (amplitude: number, falling: number, count: number) => (hertz: number) =>
  harmonics(amplitude, hertz, falling, count);

const drums = mix(bursts(rumble(0.5, 90), 2, 10), bursts(noise(0.2), 4, 25));

const MUSIC: Readonly<Record<string, SoundMaker>> = {
  'a chord': tones(0.4, ...CHORD_HZ),
  'an arpeggio': bursts(sequence(0.25, ...NOTES_HZ.map(note(0.2, 1, 3))), 4, 3),
  'a music box': bursts(
    sequence(0.3, ...MELODY_HZ.map((hertz) => tones(0.3, 2 * hertz))),
    1 / 0.3,
    4,
  ),
  'a flute': sequence(0.5, ...MELODY_HZ.map(note(0.2, 2, 3))),
  'an organ': mix(...CHORD_HZ.map(note(0.08, 1, 5))),
  'a computer game': sequence(0.15, ...MELODY_HZ.map(note(0.15, 1, 6))),
  'a guitar': plucked(0.4, MELODY_HZ, 0.4),
  'a bass': plucked(0.6, [82, 82, 110, 98], 0.5),
  drums,
  'music on hold': mix(
    sequence(0.4, ...MELODY_HZ.map(note(0.12, 1.2, 6))),
    mix(...CHORD_HZ.map(note(0.04, 1, 4))),
    bursts(rumble(0.2, 90), 2.5, 10),
  ),
  'a band': mix(plucked(0.25, MELODY_HZ, 0.4), plucked(0.3, [82, 82, 110, 98], 0.8), drums),
};

/** By name. */
export const NON_SPEECH: Readonly<Record<string, SoundMaker>> = {
  ...LINE,
  ...ROOM,
  ...STREET,
  ...MUSIC,
};

/** @returns 16-bit samples of one of `NON_SPEECH`; the same at each call. */
export function nonSpeech(name: string, seconds: number): Int16Array {
  const maker = NON_SPEECH[name];
  if (maker === undefined) throw new Error(`There is no sound "${name}"`);
  const sound = maker(randomFrom(1));
  return Int16Array.from({ length: seconds * RATE_HZ }, (_, index) =>
    Math.round(32_767 * Math.max(-1, Math.min(1, sound(index / RATE_HZ)))),
  );
}

/** Most sounds of one call. */
const SOUNDS_MAX = 8;

/** All sounds, shared out over calls: some of every kind on each. */
export function noiseCallSounds(): readonly (readonly {
  readonly name: string;
  make(seconds: number): Int16Array;
}[])[] {
  const names = Object.keys(NON_SPEECH);
  const calls = Math.ceil(names.length / SOUNDS_MAX);
  return Array.from({ length: calls }, (_, call) =>
    names
      .filter((_name, index) => index % calls === call)
      .map((name) => ({ name, make: (seconds: number) => nonSpeech(name, seconds) })),
  );
}
