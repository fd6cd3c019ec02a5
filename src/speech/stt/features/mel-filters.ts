/** The mel filters between a spectrum and what Whisper sees: Slaney's scale and normalisation; pure */
import { WINDOW_SAMPLES } from './fourier-transform.ts';

/** Samples per second that every model here hears. */
export const MODEL_RATE_HZ = 16_000;

/** Bins of one window's power spectrum, from 0 Hz to 8 kHz. */
export const SPECTRUM_BINS = WINDOW_SAMPLES / 2 + 1;

/** A triangle over neighbouring bins; everything outside of it is zero. */
export interface MelFilter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

/**
 * Makes the filters, lowest first.
 *
 * @param melCount 80, or 128 for large-v3.
 * @see M. Slaney, Auditory Toolbox; the same as `mel_filter_bank` of
 * huggingface/transformers with `norm` and `mel_scale` "slaney"
 */
export function melFilters(melCount: number): readonly MelFilter[] {
  const topMel = melOfHz(MODEL_RATE_HZ / 2);
  const edgeHz = (index: number) => hzOfMel((topMel * index) / (melCount + 1));
  return Array.from({ length: melCount }, (_, mel) =>
    triangle(edgeHz(mel), edgeHz(mel + 1), edgeHz(mel + 2)),
  );
}

/** Rises from `lowHz` to `peakHz`, falls to `highHz`; its area is 1. */
function triangle(lowHz: number, peakHz: number, highHz: number): MelFilter {
  const binHz = MODEL_RATE_HZ / WINDOW_SAMPLES;
  const firstBin = Math.floor(lowHz / binHz) + 1;
  const lastBin = Math.min(Math.ceil(highHz / binHz) - 1, SPECTRUM_BINS - 1);
  const weights = Float64Array.from({ length: Math.max(0, lastBin - firstBin + 1) }, (_, index) => {
    const hz = (firstBin + index) * binHz;
    const height = Math.min((hz - lowHz) / (peakHz - lowHz), (highHz - hz) / (highHz - peakHz));
    return (Math.max(0, height) * 2) / (highHz - lowHz);
  });
  return { firstBin, weights };
}

/** Slaney's mel scale is linear up to here, logarithmic above. */
const BREAK_HZ = 1000;
const BREAK_MEL = 15;
const HZ_PER_MEL = BREAK_HZ / BREAK_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function melOfHz(hz: number): number {
  return hz < BREAK_HZ ? hz / HZ_PER_MEL : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP;
}

function hzOfMel(mel: number): number {
  return mel < BREAK_MEL ? mel * HZ_PER_MEL : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}
