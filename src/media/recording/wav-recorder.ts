/** Writes a call to disk while it goes on, without ever holding up the media clock. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { PRIVATE_FILE_MODE } from '../../lib/private-tree.ts';
import { LINE_RATE_HZ, type RecordingFailure } from '../audio-stream.ts';
import { StereoTrack, type TrackSide } from './stereo-track.ts';
import { WAV_HEADER_BYTES, wavHeader } from './wav-format.ts';

const SHAPE = { channels: 2, rateHz: LINE_RATE_HZ } as const;
const FRAME_BYTES = 4;
const BYTES_PER_MS = (LINE_RATE_HZ / 1000) * FRAME_BYTES;

/** How often the disk sees what was heard: what a crash can cost. */
const FLUSH_FRAMES = LINE_RATE_HZ;
/** Kept back at each flush, since late packets may still change it. */
const KEEP_FRAMES = LINE_RATE_HZ / 4;
/** A disk that is so far behind will not catch up: 20 s. */
const WAITING_FRAMES_MAX = 20 * LINE_RATE_HZ;

/**
 * A stereo WAV file: caller left, agent right, 8 kHz, 16 bits, on the call's own time line. The sizes in the header
 * are brought up to date with every flush, so that a file that was cut off plays up to its last second.
 */
export class WavRecorder {
  readonly #path: string;
  readonly #track: StereoTrack;
  readonly #onFailed: (failure: RecordingFailure) => void;
  #file: FileHandle | undefined;
  #writtenBytes = 0;
  /** The write under way; writes follow one another. */
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #closing: Promise<void> | undefined;
  #isOver = false;

  constructor(options: {
    readonly path: string;
    readonly startedAtMs: number;
    /** Called once, when the recording had to be given up. */
    readonly onFailed: (failure: RecordingFailure) => void;
  }) {
    this.#path = options.path;
    this.#onFailed = options.onFailed;
    this.#track = new StereoTrack({ startedAtMs: options.startedAtMs });
  }

  /** Adds what one side sounded like up to `untilMs`. */
  add(side: TrackSide, pcm: Int16Array, untilMs: number): void {
    if (this.#isOver) return;
    this.#track.add(side, pcm, untilMs);
    if (this.#track.length > WAITING_FRAMES_MAX) this.#fail(new Error('the disk is too slow'));
    if (!this.#isWriting && this.#track.length >= FLUSH_FRAMES + KEEP_FRAMES) {
      this.#writing = this.#attempt(() => this.#flush(this.#track.length - KEEP_FRAMES));
    }
  }

  /** Writes the rest. Resolves when the file is whole, or was given up. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    await this.#writing;
    if (!this.#isOver && this.#track.length > 0) {
      await this.#attempt(() => this.#flush(this.#track.length));
    }
    this.#isOver = true;
    this.#track.end();
    await this.#closeFile();
  }

  /** The first flush makes the file: calls that end at once are many under attack, and cost one write this way. */
  async #flush(frames: number): Promise<void> {
    const bytes = this.#track.take(frames);
    if (this.#file === undefined) {
      this.#file = await open(this.#path, 'wx', PRIVATE_FILE_MODE);
      await writeAll(this.#file, Buffer.concat([wavHeader(SHAPE, bytes.length), bytes]), 0);
    } else {
      await writeAll(this.#file, bytes, WAV_HEADER_BYTES + this.#writtenBytes);
      await writeAll(this.#file, wavHeader(SHAPE, this.#writtenBytes + bytes.length), 0);
    }
    this.#writtenBytes += frames * FRAME_BYTES;
  }

  /** Runs a step on the file; an error ends the recording, never the call. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    this.#isWriting = true;
    try {
      await step();
    } catch (error) {
      await this.#settleFile();
      this.#fail(error);
    }
    this.#isWriting = false;
  }

  /** Leaves a file that plays up to its last whole write, or none: a disk that runs full takes a part of what it is given. */
  async #settleFile(): Promise<void> {
    // The failure that led here is reported; a disk that refuses this too changes nothing of it.
    if (this.#writtenBytes > 0) {
      await this.#file?.truncate(WAV_HEADER_BYTES + this.#writtenBytes).catch(() => undefined);
    } else if (this.#file !== undefined) {
      await rm(this.#path).catch(() => undefined);
    }
    await this.#closeFile();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const state = error instanceof Error ? error.message : String(error);
    const reason = `Cannot write recording "${this.#path}": ${state}`;
    this.#onFailed({ reason, recordedMs: this.#writtenBytes / BYTES_PER_MS });
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // What was to be written is written or reported by now; a failed close changes neither.
    await file?.close().catch(() => undefined);
  }
}

/** A file system may take less than it was given, a nearly full one above all. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const rest = bytes.subarray(written);
    const { bytesWritten } = await file.write(rest, 0, rest.length, position + written);
    if (bytesWritten === 0) throw new Error('the file system takes no more');
    written += bytesWritten;
  }
}
