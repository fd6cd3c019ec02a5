/** WAV files of 16-bit PCM: their header, its repair, and the loudest samples along a recording, read piece by piece. */
import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';

/** Size of the header that we write. */
export const WAV_HEADER_BYTES = 44;

interface WavShape {
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

/** Reads the shape out of a header as `wavHeader` writes it; undefined for any other header. */
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

/** Result of a repair. */
interface WavRepair {
  /** `empty` files have no sound, `not-wav` files have another format; both are left unchanged. */
  readonly outcome: 'whole' | 'repaired' | 'empty' | 'not-wav';
  /** How long the file plays now. */
  readonly soundMs: number;
}

/**
 * Sets the sizes in the header to the real size of the file, and cuts off an incomplete last frame.
 * Call it for each recording that an earlier process left unfinished.
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

/** Peaks of both sides of a recording: `points` of them, or as many as the recording has frames. */
interface StereoPeaks {
  readonly durationMs: number;
  /** From 0 to 1, with two decimals. */
  readonly left: readonly number[];
  readonly right: readonly number[];
}

/** Read at a time: two seconds, a tenth of a millisecond's work. */
const PIECE_BYTES = 64 * 1024;

const FRAME_BYTES = 4;

const FULL_SCALE = 32_768;

/**
 * Reads a 16-bit stereo WAV up to the length in its header, or to the end of the file if that comes first.
 *
 * @param signal ends the reading; the rest then counts as silence.
 * @returns undefined for any other file.
 * @throws {Error} of the file system.
 */
export async function readWavPeaks(
  path: string,
  points: number,
  signal?: AbortSignal,
): Promise<StereoPeaks | undefined> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(WAV_HEADER_BYTES);
    await file.read(header, 0, WAV_HEADER_BYTES, 0);
    const shape = readWavHeader(header);
    if (shape?.channels !== 2) return undefined;
    const { size } = await file.stat();
    const dataBytes = Math.max(0, Math.min(shape.dataBytes, size - WAV_HEADER_BYTES));
    const frames = Math.floor(dataBytes / FRAME_BYTES);
    const finder = new PeakFinder(frames, Math.min(points, frames));
    for await (const pcm of piecesOf(file, frames, signal)) finder.add(pcm);
    const durationMs = Math.round((frames * 1000) / shape.rateHz);
    return { durationMs, left: finder.peaksOf(0), right: finder.peaksOf(1) };
  } finally {
    await file.close();
  }
}

/** Interleaved samples, in memory that is used again for the next piece. */
async function* piecesOf(
  file: FileHandle,
  frames: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Int16Array> {
  const memory = Buffer.from(new ArrayBuffer(PIECE_BYTES));
  for (let done = 0; done < frames; ) {
    if (signal?.aborted === true) return;
    const wanted = Math.min(PIECE_BYTES, (frames - done) * FRAME_BYTES);
    const at = WAV_HEADER_BYTES + done * FRAME_BYTES;
    const { bytesRead } = await file.read(memory, 0, wanted, at);
    const read = Math.floor(bytesRead / FRAME_BYTES);
    // The file was truncated meanwhile: the rest counts as silence.
    if (read === 0) return;
    const bytes = memory.subarray(0, read * FRAME_BYTES);
    if (endianness() === 'BE') bytes.swap16();
    yield new Int16Array(bytes.buffer, 0, read * 2);
    done += read;
  }
}

/** Takes interleaved samples in order; keeps the greatest of each stretch. */
class PeakFinder {
  readonly #frames: number;
  readonly #peaks: readonly Float64Array[];
  readonly #points: number;
  #frame = 0;

  constructor(frames: number, points: number) {
    this.#frames = frames;
    this.#points = points;
    this.#peaks = [new Float64Array(points), new Float64Array(points)];
  }

  add(pcm: Int16Array): void {
    const end = this.#frame + pcm.length / 2;
    for (let from = this.#frame; from < end; ) {
      const point = Math.floor((from * this.#points) / this.#frames);
      const pointEnd = Math.ceil(((point + 1) * this.#frames) / this.#points);
      const until = Math.min(end, pointEnd);
      const stretch = { from: (from - this.#frame) * 2, until: (until - this.#frame) * 2 };
      for (const [channel, peaks] of this.#peaks.entries()) {
        const peak = peakOf(pcm, channel, stretch);
        peaks[point] = Math.max(peaks[point] ?? 0, peak);
      }
      from = until;
    }
    this.#frame = end;
  }

  peaksOf(channel: number): readonly number[] {
    return [...(this.#peaks[channel] ?? [])].map(
      (peak) => Math.round((peak * 100) / FULL_SCALE) / 100,
    );
  }
}

function peakOf(
  pcm: Int16Array,
  channel: number,
  { from, until }: { readonly from: number; readonly until: number },
): number {
  let peak = 0;
  for (let at = from + channel; at < until; at += 2) {
    const size = Math.abs(pcm[at] ?? 0);
    if (size > peak) peak = size;
  }
  return peak;
}
