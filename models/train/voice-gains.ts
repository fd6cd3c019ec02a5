/**
 * Measures how loud each of espeak-ng's variants speaks on the telephone's band, and prints the gains
 * that bring them to `LOUDNESS_DBFS`: `node models/train/voice-gains.ts`, into `models/voices.json`.
 */
import { execFileSync } from 'node:child_process';
import { EspeakWave } from '../../src/speech/tts/espeak/sentence-job.ts';
import { LOUDNESS_DBFS } from '../../src/speech/tts/pool/line-pcm.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';

const TEXT =
  'Good morning, how can I help you? I can book you in for Monday at nine. Please tell me your name.';

/** 20 ms at 8 kHz. */
const FRAME_SAMPLES = 160;

/** Frames this much quieter than the loudest are pauses: 25 dB. */
const PAUSE_RATIO = 10 ** -2.5;

const { espeak } = await loadVoiceBook();
const language = espeak.languages[espeak.fallbackLanguage];
for (const { name } of [...espeak.variants.female, ...espeak.variants.male]) {
  const levelDbfs = activeLevelDbfs(speak(`${language}+${name}`));
  console.log(JSON.stringify({ name, gainDb: Number((LOUDNESS_DBFS - levelDbfs).toFixed(1)) }));
}

function speak(voice: string): Int16Array {
  const words = ['-v', voice, '-s', String(espeak.wordsPerMinute), '-b', '1', '--stdout', TEXT];
  const wave = new EspeakWave({ gainDb: 0, pauseAfterMs: 0 });
  const pcm = wave.push(execFileSync('espeak-ng', words, { maxBuffer: 2 ** 25 }));
  return Int16Array.from([...pcm, ...wave.end()]);
}

/** RMS of the frames that hold speech, in dB below full scale. */
function activeLevelDbfs(pcm: Int16Array): number {
  const powers: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= pcm.length; at += FRAME_SAMPLES) {
    const frame = pcm.subarray(at, at + FRAME_SAMPLES);
    powers.push(frame.reduce((sum, sample) => sum + sample ** 2, 0) / FRAME_SAMPLES);
  }
  const loudest = Math.max(...powers);
  const voiced = powers.filter((power) => power > loudest * PAUSE_RATIO);
  const mean = voiced.reduce((sum, power) => sum + power, 0) / voiced.length;
  return 10 * Math.log10(mean / 32_768 ** 2);
}
