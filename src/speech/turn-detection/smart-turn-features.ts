/** What Smart Turn hears: the newest 8 s at 16 kHz, brought to mean 0 and variance 1, as Whisper's log-mel; pure */

import { HOP_SAMPLES, LogMel } from '../stt/features/log-mel.ts';
import { MODEL_RATE_HZ } from '../stt/features/mel-filters.ts';
import { Upsampler } from '../stt/features/upsampler.ts';

export const MEL_COUNT = 80;

/** 8 s of 10 ms. */
export const FRAMES = 800;

const WAVE_SAMPLES = FRAMES * HOP_SAMPLES;

/** A frame looks this far past its middle; what is not there is the end of the wave, mirrored. */
const MIRRORED_SAMPLES = 200;

/** Keeps silence from being divided by nothing; as in Hugging Face's feature extractor. */
const VARIANCE_MIN = 1e-7;

/**
 * Makes the model's input.
 *
 * @param pcm 8 kHz, mono, signed 16-bit; older than 8 s is left out, what is missing of them is silence before it.
 * @returns 80 mels by 800 frames, mel by mel.
 * @see https://github.com/pipecat-ai/smart-turn, inference; `WhisperFeatureExtractor` of
 * huggingface/transformers with `chunk_length` 8 and `do_normalize`
 */
export function smartTurnFeatures(pcm: Int16Array): Float32Array {
  const newest = pcm.subarray(Math.max(0, pcm.length - (WAVE_SAMPLES * 8000) / MODEL_RATE_HZ));
  const heard = new Upsampler().push(newest);
  const wave = new Float32Array(WAVE_SAMPLES + MIRRORED_SAMPLES);
  wave.set(heard, WAVE_SAMPLES - heard.length);
  normalize(wave.subarray(0, WAVE_SAMPLES));
  mirrorEnd(wave);

  const mel = new LogMel({ melCount: MEL_COUNT });
  mel.push(wave);
  return mel.features(FRAMES).values;
}

function normalize(wave: Float32Array): void {
  const mean = wave.reduce((sum, sample) => sum + sample, 0) / wave.length;
  const variance = wave.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / wave.length;
  const scale = 1 / Math.sqrt(variance + VARIANCE_MIN);
  for (let index = 0; index < wave.length; index += 1) {
    wave[index] = ((wave[index] as number) - mean) * scale;
  }
}

function mirrorEnd(wave: Float32Array): void {
  for (let index = 0; index < MIRRORED_SAMPLES; index += 1) {
    wave[WAVE_SAMPLES + index] = wave[WAVE_SAMPLES - 2 - index] as number;
  }
}
