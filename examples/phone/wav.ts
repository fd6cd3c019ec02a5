/** Reads and writes WAV files of 8 kHz, mono, 16 bits: what the example telephone speaks and hears. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readWavHeader, WAV_HEADER_BYTES, wavHeader } from '../../src/media/recording/wav-file.ts';

const RATE_HZ = 8000;

/** @throws {RangeError} when the file has another rate, more channels, or other samples. */
export function readWav(path: string): Int16Array {
  const file = readFileSync(path);
  const shape = readWavHeader(file);
  if (shape?.channels !== 1 || shape.rateHz !== RATE_HZ) {
    throw new RangeError(`Cannot speak "${path}": not a WAV of 8 kHz, mono, 16 bits`);
  }
  const samples = file.subarray(WAV_HEADER_BYTES, WAV_HEADER_BYTES + shape.dataBytes);
  return new Int16Array(Uint8Array.from(samples).buffer);
}

export function writeWav(path: string, pcm: Int16Array): void {
  const header = wavHeader({ channels: 1, rateHz: RATE_HZ }, pcm.byteLength);
  writeFileSync(path, Buffer.concat([header, Buffer.from(pcm.buffer, 0, pcm.byteLength)]));
}
