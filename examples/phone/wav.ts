/** Reads and writes WAV files of 8 kHz, mono, 16 bits: what the example telephone speaks and hears. */
import { readFileSync, writeFileSync } from 'node:fs';

const RATE_HZ = 8000;
const HEADER_BYTES = 44;

/** @throws {RangeError} when the file has another rate, more channels, or other samples. */
export function readWav(path: string): Int16Array {
  const file = readFileSync(path);
  const isRight =
    file.toString('latin1', 0, 4) === 'RIFF' &&
    file.readUInt16LE(22) === 1 &&
    file.readUInt32LE(24) === RATE_HZ &&
    file.readUInt16LE(34) === 16;
  if (!isRight) throw new RangeError(`Cannot speak "${path}": not a WAV of 8 kHz, mono, 16 bits`);
  const start = file.indexOf('data', 36, 'latin1') + 8;
  const bytes = file.subarray(start, start + file.readUInt32LE(start - 4));
  return Int16Array.from({ length: bytes.length >> 1 }, (_, index) => bytes.readInt16LE(index * 2));
}

/** @see http://soundfile.sapp.org/doc/WaveFormat/ */
export function writeWav(path: string, pcm: Int16Array): void {
  const file = Buffer.alloc(HEADER_BYTES + pcm.length * 2);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE_HZ, 24);
  file.writeUInt32LE(RATE_HZ * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(pcm.length * 2, 40);
  pcm.forEach((sample, index) => void file.writeInt16LE(sample, HEADER_BYTES + index * 2));
  writeFileSync(path, file);
}
