/** Finds the loudest samples along a stereo recording, without ever holding more than a piece of it. */
import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { readWavHeader, WAV_HEADER_BYTES } from './wav-format.ts';

/** Both sides of a recording, `points` long or as long as the recording has frames. */
export interface StereoPeaks {
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
 * Reads a 16-bit stereo WAV from its beginning to what its header says, or to its end where that comes first.
 *
 * @param signal ends the reading; what is missing then counts as silence.
 * @returns undefined when it is no such file.
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
    // Cut off under our hands: the rest counts as silence.
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
