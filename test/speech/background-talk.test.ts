/** People who talk around the caller: when their voices count as silence, and when the caller's does not. */
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { BackgroundTalk } from '../../src/speech/vad/background-talk.ts';
import { openVoiceDetector } from '../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../src/speech/vad/silero/silero-engine.ts';
import { VadGate } from '../../src/speech/vad/vad-gate.ts';
import { VadTrack } from '../../src/speech/vad/vad-track.ts';
import { babble } from '../support/speech/babble.ts';
import { nonSpeech } from '../support/speech/non-speech.ts';
import { phraseSaying, readPhrase, SPOKEN_PHRASES } from './spoken-phrases.ts';

const WINDOWS_A_SECOND = 1000 / 32;

/** Mean square of a level in dB; 0 dB is any voice of the background. */
const power = (db: number) => 10 ** (6 + db / 10);

const WINDOW_SAMPLES = 256;

/** A window of a level: of one voice, 150 Hz and its harmonics, or of a sound without a pitch. */
function windowOf(db: number, sound: 'voice' | 'murmur', index: number): Int16Array {
  const amplitude = 2 * Math.sqrt(power(db));
  return Int16Array.from({ length: WINDOW_SAMPLES }, (_, sample) => {
    const at = index * WINDOW_SAMPLES + sample;
    const cycle = (at * 150) / 8000;
    return sound === 'voice' ? amplitude * (1 - 2 * (cycle % 1)) : amplitude * Math.sin(at * at);
  });
}

/** Windows of an even level, of which the detector takes a share for a voice. */
function hear(
  talk: BackgroundTalk,
  seconds: number,
  db: number,
  voicedShare: number,
  sound: 'voice' | 'murmur' = 'murmur',
): void {
  const windows = Math.round(seconds * WINDOWS_A_SECOND);
  for (let index = 0; index < windows; index += 1) {
    const isVoiced = Math.floor((index + 1) * voicedShare) > Math.floor(index * voicedShare);
    talk.hear(windowOf(db, sound, index), power(db), isVoiced);
  }
}

test('BackgroundTalk covers voices less than 5 dB above two steady seconds of talk, 2 dB for one under way', () => {
  const talk = new BackgroundTalk();
  hear(talk, 2.1, 0, 0.5);

  expect(talk.covers(power(4.9), false)).toBe(true);
  expect(talk.covers(power(5.1), false)).toBe(false);
  expect(talk.covers(power(1.9), true)).toBe(true);
  expect(talk.covers(power(2.1), true)).toBe(false);
});

test('BackgroundTalk does not cover the voice of a caller who goes on over known talk without a pause', () => {
  const talk = new BackgroundTalk();
  hear(talk, 2.1, 0, 1);

  hear(talk, 4, 10, 1, 'voice');

  expect(talk.covers(power(10), true)).toBe(false);
});

test('BackgroundTalk says once that two seconds were talk', () => {
  const talk = new BackgroundTalk();
  const found = Array.from({ length: 100 }, (_, index) =>
    talk.hear(windowOf(0, 'murmur', index), power(0), true),
  );

  expect(found.flatMap((isFound, window) => (isFound ? [window] : []))).toEqual([63]);
});

test.each([
  { what: 'less than two seconds', seconds: 1.9, share: 1 },
  { what: 'noise, in which the detector finds no voice', seconds: 20, share: 0 },
  { what: 'noise, of which it finds one window in twelve a voice', seconds: 20, share: 1 / 12 },
])('BackgroundTalk covers nothing after $what', ({ seconds, share }) => {
  const talk = new BackgroundTalk();
  hear(talk, seconds, 0, share);

  expect(talk.covers(power(-60), false)).toBe(false);
});

test('BackgroundTalk does not take a single talker for it, whose level falls between syllables', () => {
  const talk = new BackgroundTalk();
  for (let syllable = 0; syllable < 100; syllable += 1) {
    hear(talk, 0.192, 0, 1);
    hear(talk, 0.064, -16, 1);
  }

  expect(talk.covers(power(-20), false)).toBe(false);
});

test.each([
  { what: 'one voice without a pause', sound: 'voice', share: 1, isCovered: false },
  { what: 'several voices, which have no pitch', sound: 'murmur', share: 1, isCovered: true },
  {
    what: 'music, which has a pitch and hardly a voice',
    sound: 'voice',
    share: 1 / 6,
    isCovered: true,
  },
] as const)('BackgroundTalk after six seconds of $what: $isCovered', ({
  sound,
  share,
  isCovered,
}) => {
  const talk = new BackgroundTalk();
  hear(talk, 6, 0, share, sound);

  expect(talk.covers(power(0), false)).toBe(isCovered);
});

test("BackgroundTalk does not take a caller's last word for it, and the noise after it", () => {
  const talk = new BackgroundTalk();
  hear(talk, 0.7, 2, 1);
  hear(talk, 5, 0, 0);

  expect(talk.covers(power(0), false)).toBe(false);
});

test('BackgroundTalk does not take a caller for it who talks over a noise that was heard before', () => {
  const talk = new BackgroundTalk();
  hear(talk, 3, 0, 0);
  for (let syllable = 0; syllable < 20; syllable += 1) {
    hear(talk, 0.192, 6, 1);
    hear(talk, 0.064, 1, 1);
  }

  expect(talk.covers(power(0), false)).toBe(false);
});

test.each([
  { what: 'a lull', quietSeconds: 0.9, isCovered: true },
  { what: 'a second of quiet', quietSeconds: 1.1, isCovered: false },
])('BackgroundTalk after $what', ({ quietSeconds, isCovered }) => {
  const talk = new BackgroundTalk();
  hear(talk, 3, 0, 0.5);
  hear(talk, quietSeconds, -40, 0);

  expect(talk.covers(power(0), false)).toBe(isCovered);
});

const detector = await openVoiceDetector(bundledSilero());

afterAll(() => detector.close());

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The voices that a call's track finds, over the telephone line. */
async function voicesIn(pcm: Int16Array, echoEnd = 0): Promise<readonly Stretch[]> {
  const track = new VadTrack(detector);
  track.push(decodeG711('PCMU', encodeG711('PCMU', pcm)));
  const stretches: Stretch[] = [];
  let position = 0;
  let fromMs: number | null = null;
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    const [score = 0] = await detector.score([window]);
    position += 256;
    const event = track.score(score, { position, atMs: position / 8 }, echoEnd);
    if (event?.kind === 'voice-started') fromMs = event.atMs;
    else if (event !== null && fromMs !== null) {
      const toMs = event.kind === 'voice-stopped' ? event.lastVoicedAtMs : position / 8;
      stretches.push({ fromMs, toMs });
      fromMs = null;
    }
  }
  return stretches;
}

/** Twenty seconds of one talker without a breath, with a noise so many dB below. */
function talkerWith(file: string, noise: Int16Array | null, belowDb = 10): Int16Array {
  const phrase = readPhrase(file).slice(2400, -2400);
  const level = (rms(phrase) / (noise === null ? 1 : rms(noise))) * 10 ** (-belowDb / 20);
  return Int16Array.from({ length: 20 * 8000 }, (_, at) => {
    const sample = (phrase[at % phrase.length] ?? 0) + level * (noise?.[at] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
  });
}

function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, sample) => sum + sample ** 2, 0) / pcm.length);
}

test.each([
  null,
  'traffic',
  'loud white noise',
])('with Silero, no phrase said by one talker again and again is background talk, with %s', async (noise) => {
  const around = noise === null ? null : nonSpeech(noise, 20);
  for (const { file } of SPOKEN_PHRASES) {
    const line = decodeG711('PCMU', encodeG711('PCMU', talkerWith(file, around)));
    const [track, gate] = [new VadTrack(detector), new VadGate()];
    track.push(line);
    let position = 0;
    for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
      const [score = 0] = await detector.score([window]);
      position += 256;
      const [startAtMs, endAtMs] = [position / 8 - 32, position / 8];
      const plain = gate.push(score, { startAtMs, endAtMs });
      const event = track.score(score, { position, atMs: endAtMs });
      expect({ file, at: event?.kind }).toEqual({ file, at: plain?.kind });
    }
  }
});

test.each([
  'traffic',
  'loud white noise',
])('with Silero, callers who talk at once, without a breath, are heard over %s 5 dB below', async (noise) => {
  for (const { file } of SPOKEN_PHRASES) {
    const voices = await voicesIn(talkerWith(file, nonSpeech(noise, 20), 5));
    const ends = voices.map(({ fromMs, toMs }) => toMs - fromMs);
    expect(
      ends.reduce((sum, ms) => sum + ms, 0),
      file,
    ).toBeGreaterThan(10_000);
  }
});

test.each([
  { talkers: 4, belowDb: 10, voicedMsMax: 4000 },
  { talkers: 4, belowDb: 30, voicedMsMax: 4500 },
  { talkers: 8, belowDb: 10, voicedMsMax: 1500 },
  { talkers: 8, belowDb: 20, voicedMsMax: 1500 },
])('with Silero, twenty seconds of the talk of $talkers people, $belowDb dB below a voice, are a voice for $voicedMsMax ms at most', async ({
  talkers,
  belowDb,
  voicedMsMax,
}) => {
  const voices = await voicesIn(babble(talkers, 20, belowDb));

  const voicedMs = voices.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  expect(voicedMs).toBeLessThan(voicedMsMax);
});

test('with Silero, no word counts of the two seconds in which the talk of four people was found', async () => {
  const track = new VadTrack(detector);
  track.push(decodeG711('PCMU', encodeG711('PCMU', babble(4, 60, 10).subarray(104_000, 122_400))));
  const voicedMs: number[] = [];
  let position = 0;
  for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
    const [score = 0] = await detector.score([window]);
    position += 256;
    track.score(score, { position, atMs: position / 8 });
    voicedMs.push(track.shareFrom(0).voicedMs);
  }

  expect(Math.max(...voicedMs)).toBeGreaterThan(80);
  expect(voicedMs.at(-1)).toBe(0);
});

test('with Silero, what may be the echo of the agent is not taken for talk around the caller', async () => {
  const line = babble(8, 12, 10);

  const untilTold = await voicesIn(line, 6 * 8000);
  const spoken = (from: number, to: number) =>
    untilTold.reduce(
      (sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(to, toMs) - Math.max(from, fromMs)),
      0,
    );

  expect(spoken(2000, 6000)).toBeGreaterThan(2000);
  expect(spoken(8500, 12_000)).toBeLessThan(1000);
});

test('with Silero, a voice over the talk of eight people begins and ends where it does', async () => {
  const line = babble(8, 9, 10);
  const phrase = phraseSaying('What are your opening hours?').slice(2400, -2400);
  const begins = 6 * 8000;
  for (const [index, sample] of phrase.entries()) {
    line[begins + index] = (line[begins + index] ?? 0) + sample;
  }

  const voices = (await voicesIn(line)).filter(({ toMs }) => toMs > 2000);

  const endsMs = 6000 + phrase.length / 8;
  expect(voices[0]?.fromMs).toBeGreaterThan(5900);
  expect(voices[0]?.fromMs).toBeLessThan(6200);
  expect(Math.abs((voices.at(-1)?.toMs ?? 0) - endsMs)).toBeLessThan(600);
});
