/** Recorded people of Debian's Asterisk packages, and its music on hold, through the voice detector that comes with Offhook. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { describeWithout } from '../../support/server/programs.ts';
import { nonSpeech } from '../../support/speech/non-speech.ts';

const FOLDER = '/usr/share/asterisk';
const RATE_HZ = 8000;

/** Folder of each person's prompts, and its Debian package. */
const PEOPLE = {
  es_MX_f_Allison: 'asterisk-core-sounds-es-wav',
  it_IT_m_Carlo: 'asterisk-core-sounds-it-wav',
  ru_RU_f_IvrvoiceRU: 'asterisk-core-sounds-ru-wav',
};
const MUSIC_PACKAGE = 'asterisk-moh-opsound-wav';

/** The longest prompts of a person, from 10 to 30 s of speech, almost without a pause. */
const PROMPTS = 10;
const PROMPT_SECONDS_MAX = 30;

/** Level of a caller, in dB below full scale. */
const CALLER_DBFS = -23;

/** Screams of monkeys. */
const NO_SPEECH = 'tt-monkeys.wav';

const GREETING_SECONDS = 4;
const AFTER_SECONDS = 2;

const missing = [
  ...Object.entries(PEOPLE)
    .filter(([folder]) => !existsSync(join(FOLDER, 'sounds', folder)))
    .map(([, name]) => name),
  ...(existsSync(join(FOLDER, 'moh')) ? [] : [MUSIC_PACKAGE]),
];

/** The samples of a 16-bit mono file of 8 kHz. */
function readWave(path: string): Int16Array {
  const bytes = readFileSync(path);
  const data = bytes.indexOf('data') + 8;
  expect(bytes.readUInt32LE(24), path).toBe(RATE_HZ);
  return new Int16Array(Uint8Array.from(bytes.subarray(data, bytes.length & ~1)).buffer);
}

function promptsOf(person: string): readonly string[] {
  const folder = join(FOLDER, 'sounds', person);
  const sizeMax = PROMPT_SECONDS_MAX * RATE_HZ * 2;
  const size = (name: string) => statSync(join(folder, name)).size;
  return readdirSync(folder)
    .filter((name) => name.endsWith('.wav') && name !== NO_SPEECH && size(name) < sizeMax)
    .sort((one, other) => size(other) - size(one))
    .slice(0, PROMPTS)
    .map((name) => join(folder, name));
}

function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, sample) => sum + sample ** 2, 0) / pcm.length);
}

/** A prompt at a caller's level after a greeting's time of the noise, which goes on under it. */
function lineWith(prompt: Int16Array, noise: string | null, belowDb: number): Int16Array {
  const level = 32_768 * 10 ** (CALLER_DBFS / 20);
  const around = noise === null ? null : nonSpeech(noise, 20);
  const noiseGain = around === null ? 0 : (level / rms(around)) * 10 ** (-belowDb / 20);
  const start = GREETING_SECONDS * RATE_HZ;
  const voiceGain = level / rms(prompt);
  const line = new Int16Array(start + prompt.length + AFTER_SECONDS * RATE_HZ).map((_, at) => {
    const sample =
      voiceGain * (prompt[at - start] ?? 0) + noiseGain * (around?.[at % around.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, sample));
  });
  return decodeG711('PCMU', encodeG711('PCMU', line));
}

describeWithout(missing, 'recorded sounds', () => {
  const opened = openVoiceDetector(bundledSilero());

  afterAll(async () => (await opened).close());

  /** Counts events of a line by kind. */
  async function eventsOn(line: Int16Array): Promise<Readonly<Record<string, number>>> {
    const detector = await opened;
    const track = new VadTrack(detector);
    track.push(line);
    const counts: Record<string, number> = {};
    let position = 0;
    for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
      const [score = 0] = await detector.score([window]);
      position += 256;
      const event = track.score(score, { position, atMs: position / 8 });
      if (event !== null) counts[event.kind] = (counts[event.kind] ?? 0) + 1;
    }
    return counts;
  }

  const lines = Object.keys(PEOPLE).flatMap((person) => [
    { person, noise: null, belowDb: 0 },
    { person, noise: 'a car from within', belowDb: 12 },
    { person, noise: 'traffic', belowDb: 8 },
    { person, noise: 'white noise', belowDb: 8 },
  ]);

  test.each(
    lines,
  )('no long sentence of $person is background talk, with $noise $belowDb dB below', async ({
    person,
    noise,
    belowDb,
  }) => {
    for (const path of promptsOf(person)) {
      const events = await eventsOn(lineWith(readWave(path), noise, belowDb));

      expect(events['voice-started'], path).toBeGreaterThan(0);
      expect(events['background-talk'], path).toBeUndefined();
    }
  });

  test('ten minutes of music on hold start no more than five voices', async () => {
    const music = readdirSync(join(FOLDER, 'moh')).filter((name) => name.endsWith('.wav'));
    let voices = 0;
    for (const name of music) {
      const line = readWave(join(FOLDER, 'moh', name)).subarray(0, 120 * RATE_HZ);
      voices += (await eventsOn(line))['voice-started'] ?? 0;
    }

    expect(music.length).toBeGreaterThanOrEqual(5);
    expect(voices).toBeLessThanOrEqual(5);
  });
});
