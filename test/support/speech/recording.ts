/** Reads the recording of a call, as the server writes it. */
import { readFileSync } from 'node:fs';
import { readWavHeader, WAV_HEADER_BYTES } from '../../../src/media/recording/wav-file.ts';

export interface StereoRecording {
  /** The caller; 8 kHz. */
  readonly left: Int16Array;
  /** The agent; 8 kHz. */
  readonly right: Int16Array;
}

/** @returns undefined while it is not whole: its header tells the length only at the end. */
export function readStereo(path: string): StereoRecording | undefined {
  const file = readFileSync(path);
  const header = readWavHeader(file);
  if (header?.channels !== 2 || header.dataBytes !== file.length - WAV_HEADER_BYTES)
    return undefined;
  const samples = new Int16Array(Uint8Array.from(file.subarray(WAV_HEADER_BYTES)).buffer);
  return {
    left: samples.filter((_, index) => index % 2 === 0),
    right: samples.filter((_, index) => index % 2 === 1),
  };
}

/** Of 32,767: above the noise of a line. */
const LOUD = 600;

/** Where a side is first loud from an instant of the recording on; its end where it never is. */
export function firstLoudMs(side: Int16Array, fromMs: number): number {
  const from = Math.max(0, Math.round(fromMs * 8));
  const index = side.subarray(from).findIndex((sample) => Math.abs(sample) > LOUD);
  return (index === -1 ? side.length : from + index) / 8;
}
