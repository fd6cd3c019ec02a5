/** WAV recorder: aligns both sides of a call on one time line, and writes them to disk as the call proceeds, without blocking the pacer. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { endianness } from 'node:os';
import { PRIVATE_FILE_MODE } from '../../lib/private-tree.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { LINE_RATE_HZ, type RecordingFailure } from '../audio-stream.ts';
import { WAV_HEADER_BYTES, wavHeader } from './wav-file.ts';

const SHAPE = { channels: 2, rateHz: LINE_RATE_HZ } as const;
const FRAME_BYTES = 4;
const BYTES_PER_MS = (LINE_RATE_HZ / 1000) * FRAME_BYTES;

/** Frames between two writes: the most that a crash loses. */
const FLUSH_FRAMES = LINE_RATE_HZ;
/** Frames that each write keeps back for late packets. */
const KEEP_FRAMES = LINE_RATE_HZ / 4;
/** Unwritten frames after which the recording fails: 20 s. */
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
    /** Called once when the recording fails. */
    readonly onFailed: (failure: RecordingFailure) => void;
  }) {
    this.#path = options.path;
    this.#onFailed = options.onFailed;
    this.#track = new StereoTrack({ startedAtMs: options.startedAtMs });
  }

  /** Adds one side's sound that ends at `untilMs`. After `close` it is left out: a write that it began would cross the last one. */
  add(side: TrackSide, pcm: Int16Array, untilMs: number): void {
    if (this.#isOver || this.#closing !== undefined) return;
    this.#track.add(side, pcm, untilMs);
    if (this.#track.length > WAITING_FRAMES_MAX) this.#fail(new Error('the disk is too slow'));
    if (!this.#isWriting && this.#track.length >= FLUSH_FRAMES + KEEP_FRAMES) {
      this.#writing = this.#attempt(() => this.#flush(this.#track.length - KEEP_FRAMES));
    }
  }

  /** Writes the rest; resolves when the file is complete or has failed. Safe to call twice. */
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

  /** Creates the file at the first flush, so that a call that ends at once costs one write. */
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

  /** Truncates the file to its last complete write, or removes it: a full disk takes a part of a write. */
  async #settleFile(): Promise<void> {
    // Only the first failure is reported.
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
    const reason = `Cannot write recording "${this.#path}": ${messageOf(error)}`;
    this.#onFailed({ reason, recordedMs: this.#writtenBytes / BYTES_PER_MS });
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // All writes are done or reported by now; a failed close changes neither.
    await file?.close().catch(() => undefined);
  }
}

/** Writes all bytes; a nearly full file system may take a part. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const rest = bytes.subarray(written);
    const { bytesWritten } = await file.write(rest, 0, rest.length, position + written);
    if (bytesWritten === 0) throw new Error('the file system takes no more');
    written += bytesWritten;
  }
}

/** Left is the caller, right the agent. */
export type TrackSide = 'caller' | 'agent';

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Deviation from the clock that is joined without a gap, since packets arrive unevenly. */
const SEAM_SAMPLES = 60 * SAMPLES_PER_MS;
/** Longest lead of a side after a burst, until its next quiet moment. */
const AHEAD_SAMPLES_MAX = 1000 * SAMPLES_PER_MS;
/** Sound below this peak may be dropped inaudibly. */
const QUIET_PEAK = 200;

const CHANNEL: Readonly<Record<TrackSide, number>> = { caller: 0, agent: 1 };

/** Two seconds of both sides: more than waits between two writes. */
const WINDOW_SAMPLES = 4 * LINE_RATE_HZ;

const NO_WINDOW = new Int16Array(0);

/** Cleared windows of ended tracks: short calls would leave 64 KB of garbage each. */
const spareWindows: Int16Array[] = [];

/** 6 MB. */
const SPARE_WINDOWS_MAX = 100;

/**
 * A growing window of interleaved stereo samples, each placed by the clock; gaps are silent. `take` removes the oldest.
 */
export class StereoTrack {
  readonly #startedAtMs: number;
  /** Frame number (one sample of each side) at which the window begins. */
  #start = 0;
  #window: Int16Array = spareWindows.pop() ?? new Int16Array(WINDOW_SAMPLES);
  readonly #ends: Record<TrackSide, number> = { caller: 0, agent: 0 };

  constructor(options: { startedAtMs: number }) {
    this.#startedAtMs = options.startedAtMs;
  }

  /** Frames in the window, up to the longer side. */
  get length(): number {
    return Math.max(0, Math.max(this.#ends.caller, this.#ends.agent) - this.#start);
  }

  /** Adds one side's sound that ends at `untilMs`. */
  add(side: TrackSide, pcm: Int16Array, untilMs: number): void {
    const due = Math.round((untilMs - this.#startedAtMs) * SAMPLES_PER_MS) - pcm.length;
    const ahead = this.#ends[side] - due;
    if (ahead > AHEAD_SAMPLES_MAX || (ahead > SEAM_SAMPLES && isQuiet(pcm))) return;
    const at = ahead < -SEAM_SAMPLES ? due : this.#ends[side];
    this.#ends[side] = at + pcm.length;
    this.#put(CHANNEL[side], pcm, at - this.#start);
  }

  /** Takes out the first `frames` frames, filled up with silence. Little-endian, as WAV has it. */
  take(frames: number): Buffer {
    this.#reserve(frames);
    const bytes = Buffer.from(this.#window.slice(0, frames * 2).buffer);
    if (endianness() === 'BE') bytes.swap16();
    this.#window.copyWithin(0, frames * 2);
    this.#window.fill(0, this.#window.length - frames * 2);
    this.#start += frames;
    return bytes;
  }

  /** Clears the memory and frees it for the next track. Safe to call twice. */
  end(): void {
    const window = this.#window;
    this.#window = NO_WINDOW;
    if (window.length !== WINDOW_SAMPLES || spareWindows.length === SPARE_WINDOWS_MAX) return;
    spareWindows.push(window.fill(0));
  }

  #put(channel: number, pcm: Int16Array, at: number): void {
    this.#reserve(at + pcm.length);
    for (let index = Math.max(0, -at); index < pcm.length; index += 1) {
      this.#window[(at + index) * 2 + channel] = pcm[index] ?? 0;
    }
  }

  #reserve(frames: number): void {
    if (frames * 2 <= this.#window.length) return;
    const wider = new Int16Array(Math.max(frames * 2, this.#window.length * 2));
    wider.set(this.#window);
    this.#window = wider;
  }
}

function isQuiet(pcm: Int16Array): boolean {
  return pcm.every((sample) => Math.abs(sample) < QUIET_PEAK);
}
