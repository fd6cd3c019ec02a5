/** What is left to be said: the audio of the newest reply, by generation, frame by frame; pure */
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-stream.ts';

/** Longest reply that is kept ahead; what goes beyond it is refused. */
export const PLAYOUT_MS_MAX = 120_000;

const SAMPLES_MAX = (PLAYOUT_MS_MAX * LINE_RATE_HZ) / 1000;

export interface FinishedReply {
  readonly generation: number;
  readonly playedMs: number;
  readonly isComplete: boolean;
}

interface Reply {
  readonly generation: number;
  /** What was said and not yet sent, in order. */
  readonly chunks: Int16Array[];
  /** Samples of the first chunk that are gone. */
  offset: number;
  queuedSamples: number;
  playedSamples: number;
  hasEnd: boolean;
  isPaused: boolean;
}

/** One call's reply under way. Nothing of an older generation than the newest one begun ever comes out. */
export class Playout {
  #newest = Number.NEGATIVE_INFINITY;
  #reply: Reply | undefined;

  /** The reply under way. */
  get generation(): number | undefined {
    return this.#reply?.generation;
  }

  get playedMs(): number {
    return this.#reply === undefined ? 0 : toMs(this.#reply.playedSamples);
  }

  get isPaused(): boolean {
    return this.#reply?.isPaused === true;
  }

  /** Whether the next `takeInto` would give audio. */
  get hasAudio(): boolean {
    const reply = this.#reply;
    if (reply === undefined || reply.isPaused) return false;
    return reply.queuedSamples >= (reply.hasEnd ? 1 : FRAME_SAMPLES);
  }

  /** Begins a reply; returns the one that it cut off. Ignored when the number is not a new one. */
  begin(generation: number): FinishedReply | undefined {
    if (generation <= this.#newest) return undefined;
    const cutOff = this.#end(false);
    this.#newest = generation;
    this.#reply = {
      ...{ generation, chunks: [], offset: 0, queuedSamples: 0, playedSamples: 0 },
      ...{ hasEnd: false, isPaused: false },
    };
    return cutOff;
  }

  /** Adds audio; returns whether all of it found room. Ignored for any reply but the one under way. */
  say(generation: number, pcm: Int16Array): boolean {
    const reply = this.#find(generation);
    if (reply === undefined || reply.hasEnd || pcm.length === 0) return true;
    const room = Math.min(pcm.length, SAMPLES_MAX - reply.queuedSamples);
    if (room > 0) reply.chunks.push(pcm.subarray(0, room));
    reply.queuedSamples += room;
    return room === pcm.length;
  }

  /** Says that no more audio comes; returns the reply if it is over by that. */
  finish(generation: number): FinishedReply | undefined {
    const reply = this.#find(generation);
    if (reply === undefined) return undefined;
    reply.hasEnd = true;
    return this.endIfPlayed();
  }

  /** Forgets the reply; returns it. */
  drop(generation: number): FinishedReply | undefined {
    return this.#find(generation) === undefined ? undefined : this.#end(false);
  }

  /** Holds the rest back. */
  pause(): void {
    if (this.#reply !== undefined) this.#reply.isPaused = true;
  }

  resume(generation: number): void {
    const reply = this.#find(generation);
    if (reply !== undefined) reply.isPaused = false;
  }

  /**
   * Takes the next 160 samples into `frame`, the last of a reply filled up with silence.
   *
   * @returns whether there were any.
   */
  takeInto(frame: Int16Array): boolean {
    const reply = this.#reply;
    if (reply === undefined || !this.hasAudio) return false;
    const length = Math.min(FRAME_SAMPLES, reply.queuedSamples);
    for (let filled = 0; filled < length; ) filled += copyInto(reply, frame, filled);
    if (length < FRAME_SAMPLES) frame.fill(0, length);
    reply.queuedSamples -= length;
    reply.playedSamples += length;
    return true;
  }

  /** Ends the reply when its last frame has been taken; returns it. */
  endIfPlayed(): FinishedReply | undefined {
    const reply = this.#reply;
    return reply?.hasEnd && reply.queuedSamples === 0 ? this.#end(true) : undefined;
  }

  #find(generation: number): Reply | undefined {
    return this.#reply?.generation === generation ? this.#reply : undefined;
  }

  #end(isComplete: boolean): FinishedReply | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    return reply === undefined
      ? undefined
      : { generation: reply.generation, playedMs: toMs(reply.playedSamples), isComplete };
  }
}

/** Copies from the first chunk to `frame` from `at` on; returns how many samples. */
function copyInto(reply: Reply, frame: Int16Array, at: number): number {
  const [chunk] = reply.chunks;
  if (chunk === undefined) return FRAME_SAMPLES;
  const length = Math.min(frame.length - at, chunk.length - reply.offset);
  // Sample by sample: for so few, a view costs more than the copy.
  for (let index = 0; index < length; index += 1) {
    frame[at + index] = chunk[reply.offset + index] ?? 0;
  }
  reply.offset += length;
  if (reply.offset === chunk.length) {
    reply.chunks.shift();
    reply.offset = 0;
  }
  return length;
}

function toMs(samples: number): number {
  return (samples * 1000) / LINE_RATE_HZ;
}
