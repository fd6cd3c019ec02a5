/** What any voice of espeak-ng says, as it would come over a telephone line. Needs the program. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EspeakWave } from '../../../src/speech/tts/espeak/sentence-job.ts';

/** A voice and how it speaks. */
export interface EspeakSpeaker {
  /** A language and perhaps a variant, such as `de+f4`. */
  readonly voice: string;
  /** Words a minute. */
  readonly speed: number;
  /** From 0 to 99. */
  readonly pitch: number;
  /** Root mean square of what is said, in dB below full scale. */
  readonly levelDbfs: number;
}

/** As much as one sentence can take. */
const WAV_BYTES_MAX = 4 * 1024 * 1024;

/** @returns 8 kHz, mono, without silence around it. */
export async function speakPhrase(text: string, speaker: EspeakSpeaker): Promise<Int16Array> {
  const { voice, speed, pitch, levelDbfs } = speaker;
  const options = { '-v': voice, '-s': speed, '-p': pitch };
  const args = Object.entries(options).flatMap(([name, value]) => [name, String(value)]);
  const { stdout } = await promisify(execFile)('espeak-ng', [...args, '--stdout', text], {
    encoding: 'buffer',
    maxBuffer: WAV_BYTES_MAX,
  });
  const wave = new EspeakWave({ gainDb: -6, pauseAfterMs: 0 });
  return levelled(Int16Array.from([...wave.push(stdout), ...wave.end()]), levelDbfs);
}

function levelled(pcm: Int16Array, levelDbfs: number): Int16Array {
  const power = pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;
  const gain = (32_768 * 10 ** (levelDbfs / 20)) / Math.sqrt(power);
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}
