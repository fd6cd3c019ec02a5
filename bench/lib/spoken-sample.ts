/** Phrases of the closed set as strangers say them: espeak-ng's voices that no model of ours was trained on. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EspeakWave } from '../../src/speech/tts/espeak/sentence-job.ts';
import { seededChance } from '../../test/support/sip/sip-mutants.ts';
import { type Chance, type Phrase, pick, samplePhrase } from './phrases.ts';

/** The accents of the training; what is held out is the voice. */
const ACCENTS = {
  en: 'gmw/en-US gmw/en gmw/en-GB-scotland gmw/en-GB-x-gbclan gmw/en-GB-x-gbcwmd gmw/en-GB-x-rp gmw/en-029 gmw/en-US-nyc',
  es: 'roa/es roa/es-419',
} as const;

/** TEST_VARIANTS of models/train/gen.py. */
const VARIANTS =
  'm6 m8 f4 Annie Denis Marco shelby zac gustave michel pedro grandpa iven3 steph2 klatt3 Gene2';

const SPEEDS = [120, 133, 147, 160, 175, 190, 205, 220];
const PITCHES = [10, 30, 50, 70, 90];
const WORD_GAPS = [0, 0, 2];

/** Level at which the models were measured: -22 dBFS. */
const SPEECH_RMS = 0.08 * 32_768;

const SPEAKING_MAX = 4;

/** As much as one sentence can take. */
const WAV_BYTES_MAX = 4 * 1024 * 1024;

export interface SpokenPhrase extends Phrase {
  readonly voice: string;
  /** 8 kHz, mono, without silence around it. */
  readonly pcm: Int16Array;
}

interface Speaker {
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
  readonly wordGap: number;
}

/** Phrases and voices by chance, the same for the same seed. Needs the espeak-ng program. */
export async function speakSample(count: number, seed: number): Promise<readonly SpokenPhrase[]> {
  const chance = seededChance(seed);
  const jobs = Array.from({ length: count }, () => {
    const phrase = samplePhrase(chance);
    return { phrase, speaker: sampleSpeaker(phrase, chance) };
  });
  const spoken: SpokenPhrase[] = [];
  for (let first = 0; first < count; first += SPEAKING_MAX) {
    const some = jobs.slice(first, first + SPEAKING_MAX).map(async ({ phrase, speaker }) => {
      const pcm = await speak(phrase.text, speaker);
      return { ...phrase, voice: speaker.voice, pcm };
    });
    spoken.push(...(await Promise.all(some)));
  }
  return spoken;
}

function sampleSpeaker({ language }: Phrase, chance: Chance): Speaker {
  const accent = pick(chance, ACCENTS[language].split(' '));
  return {
    voice: `${accent}+${pick(chance, VARIANTS.split(' '))}`,
    speed: pick(chance, SPEEDS),
    pitch: pick(chance, PITCHES),
    wordGap: pick(chance, WORD_GAPS),
  };
}

async function speak(text: string, speaker: Speaker): Promise<Int16Array> {
  const { voice, speed, pitch, wordGap } = speaker;
  const options = { '-v': voice, '-s': speed, '-p': pitch, '-g': wordGap };
  const args = Object.entries(options).flatMap(([name, value]) => [name, String(value)]);
  const { stdout } = await promisify(execFile)('espeak-ng', [...args, '--stdout', text], {
    encoding: 'buffer',
    maxBuffer: WAV_BYTES_MAX,
  });
  const wave = new EspeakWave({ gainDb: -6, pauseAfterMs: 0 });
  return levelled(Int16Array.from([...wave.push(stdout), ...wave.end()]));
}

function levelled(pcm: Int16Array): Int16Array {
  const power = pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;
  const gain = SPEECH_RMS / Math.sqrt(power);
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}
