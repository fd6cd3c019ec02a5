/** The header of a WAV file of 16-bit PCM; pure */
import { open } from 'node:fs/promises';

export const WAV_HEADER_BYTES = 44;

export interface WavShape {
  readonly channels: number;
  readonly rateHz: number;
}

const BYTES_PER_SAMPLE = 2;

const SIZE_UNKNOWN = 0xffff_ffff;

/**
 * Writes the header for `dataBytes` of interleaved, little-endian, signed 16-bit samples.
 *
 *     0  "RIFF"  4  file size - 8   8  "WAVE"
 *     12 "fmt "  16 size 16         20 format 1, PCM    22 channels
 *     24 samples a second           28 bytes a second   32 bytes a frame   34 bits a sample
 *     36 "data"  40 data size       44 samples
 *
 * @see Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0
 */
export function wavHeader(shape: WavShape, dataBytes: number): Buffer {
  const frameBytes = shape.channels * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(shape.channels, 22);
  header.writeUInt32LE(shape.rateHz, 24);
  header.writeUInt32LE(shape.rateHz * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** The header of sound whose end is not known: both sizes are the greatest there is. */
export function endlessWavHeader(shape: WavShape): Buffer {
  const header = wavHeader(shape, 0);
  header.writeUInt32LE(SIZE_UNKNOWN, 4);
  header.writeUInt32LE(SIZE_UNKNOWN, 40);
  return header;
}

/** Reads the shape out of a header as `wavHeader` writes it; undefined when it is something else. */
export function readWavHeader(
  header: Buffer,
): (WavShape & { readonly dataBytes: number }) | undefined {
  if (header.length < WAV_HEADER_BYTES) return undefined;
  const names = [0, 8, 12, 36].map((at) => header.toString('latin1', at, at + 4)).join();
  const isPcm16 = header.readUInt16LE(20) === 1 && header.readUInt16LE(34) === 16;
  if (names !== 'RIFF,WAVE,fmt ,data' || !isPcm16) return undefined;
  const channels = header.readUInt16LE(22);
  const rateHz = header.readUInt32LE(24);
  if (channels === 0 || rateHz === 0) return undefined;
  return { channels, rateHz, dataBytes: header.readUInt32LE(40) };
}

/** What was found and done. */
interface WavRepair {
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
