/** Stereo track: aligns both sides of a call on one timeline; pure */
import { endianness } from 'node:os';
import { LINE_RATE_HZ } from '../audio-stream.ts';

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

/** Both sides for two seconds: more than waits between two writes. */
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
