/** Babble: the talk of several people at once, from the phrases of test/fixtures/speech, at 8 kHz; the same at each call. */
import { readPhrase, SPOKEN_PHRASES } from '../../speech/spoken-phrases.ts';
import { RATE_HZ, randomFrom } from './sound-shapes.ts';

/** Level of the fixtures' voices, in dB below full scale. */
const SPEECH_DBFS = -20;

/** Pause between two phrases of a talker. */
const PAUSE_SECONDS_MAX = 0.4;

/** Difference in loudness between talkers, in dB either way. */
const UNEVEN_DB = 3;

/**
 * The talk of so many people.
 *
 * @param belowDb how far its mean power is below a voice's.
 * @returns 16-bit samples.
 */
export function babble(talkers: number, seconds: number, belowDb: number): Int16Array {
  const random = randomFrom(talkers);
  const sum = new Float32Array(seconds * RATE_HZ);
  for (let talker = 0; talker < talkers; talker += 1) {
    const gain = 10 ** ((UNEVEN_DB * (2 * random() - 1)) / 20);
    let at = -Math.round(random() * 2 * RATE_HZ);
    for (let turn = talker; at < sum.length; turn += 5) {
      const pcm = voiceOf(turn);
      addAt(sum, pcm, at, gain / rms(pcm));
      at += pcm.length + Math.round(random() * PAUSE_SECONDS_MAX * RATE_HZ);
    }
  }
  const scale = (32_768 * 10 ** ((SPEECH_DBFS - belowDb) / 20)) / rms(sum);
  return Int16Array.from(sum, (sample) => Math.round(sample * scale));
}

/** A phrase without the silence around it. */
function voiceOf(turn: number): Int16Array {
  const { file } = SPOKEN_PHRASES[turn % SPOKEN_PHRASES.length] ?? { file: '' };
  return readPhrase(file).slice(0.3 * RATE_HZ, -0.3 * RATE_HZ);
}

function addAt(sum: Float32Array, pcm: Int16Array, at: number, gain: number): void {
  for (const [index, sample] of pcm.entries()) {
    const place = at + index;
    if (place >= 0 && place < sum.length) sum[place] = (sum[place] ?? 0) + gain * sample;
  }
}

function rms(samples: Int16Array | Float32Array): number {
  let power = 0;
  for (const sample of samples) power += sample * sample;
  return Math.sqrt(power / samples.length);
}
