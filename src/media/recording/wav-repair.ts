/** Makes a recording whole that a crash cut off. */
import { open } from 'node:fs/promises';
import { readWavHeader, WAV_HEADER_BYTES, wavHeader } from './wav-format.ts';

/** What was found and done. */
export interface WavRepair {
  /** `empty` files have no sound, and `not-wav` files are something else; both are left as they are. */
  readonly outcome: 'whole' | 'repaired' | 'empty' | 'not-wav';
  /** How long the file plays now. */
  readonly soundMs: number;
}

/**
 * Sets the sizes in the header to what the file really holds, and cuts off a last frame that is not whole.
 * Call it for each recording of a call that a process before this one left unfinished.
 *
 * @throws {Error} of the file system, when the file is not there or may not be written.
 */
export async function repairWav(path: string): Promise<WavRepair> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(WAV_HEADER_BYTES);
    await file.read(header, 0, WAV_HEADER_BYTES, 0);
    if (size < WAV_HEADER_BYTES) return { outcome: 'empty', soundMs: 0 };
    const shape = readWavHeader(header);
    if (shape === undefined) return { outcome: 'not-wav', soundMs: 0 };
    const frameBytes = shape.channels * 2;
    const dataBytes = Math.floor((size - WAV_HEADER_BYTES) / frameBytes) * frameBytes;
    if (dataBytes === 0) return { outcome: 'empty', soundMs: 0 };
    const soundMs = (dataBytes / frameBytes / shape.rateHz) * 1000;
    if (shape.dataBytes === dataBytes && size === WAV_HEADER_BYTES + dataBytes) {
      return { outcome: 'whole', soundMs };
    }
    await file.truncate(WAV_HEADER_BYTES + dataBytes);
    await file.write(wavHeader(shape, dataBytes), 0, WAV_HEADER_BYTES, 0);
    return { outcome: 'repaired', soundMs };
  } finally {
    await file.close();
  }
}
