/** Makes a recording whole that a crash cut off. */
import { open } from 'node:fs/promises';
import { readWavHeader, WAV_HEADER_BYTES, wavHeader } from './wav-format.ts';

/** What was found and done. `not-wav` files are left as they are. */
export type WavRepair = 'whole' | 'repaired' | 'not-wav';

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
    const shape = readWavHeader(header);
    if (shape === undefined || size < WAV_HEADER_BYTES) return 'not-wav';
    const frameBytes = shape.channels * 2;
    const dataBytes = Math.floor((size - WAV_HEADER_BYTES) / frameBytes) * frameBytes;
    if (shape.dataBytes === dataBytes && size === WAV_HEADER_BYTES + dataBytes) return 'whole';
    await file.truncate(WAV_HEADER_BYTES + dataBytes);
    await file.write(wavHeader(shape, dataBytes), 0, WAV_HEADER_BYTES, 0);
    return 'repaired';
  } finally {
    await file.close();
  }
}
