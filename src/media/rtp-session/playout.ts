/** Playout queue: the audio of the newest reply (generation), frame by frame; pure */
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

/** Longest queued reply; further audio is refused. */
export const PLAYOUT_MS_MAX = 120_000;

const SAMPLES_MAX = (PLAYOUT_MS_MAX * LINE_RATE_HZ) / 1000;

/** Whole frames: 200 ms. */
const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Free blocks that are kept: 16 MB, about as much as 500 calls buffer. The rest is left to garbage collection. */
const FREE_BLOCKS_MAX = 5_000;

/** `BLOCK_SAMPLES` samples. */
export type SpeechBlock = Int16Array<ArrayBuffer>;

/** Pool of speech blocks, shared by the sessions of a thread. */
export class SpeechMemory {
  readonly #freeBlocks: SpeechBlock[] = [];

  /** @returns a block; its samples are not cleared. */
  claim(): SpeechBlock {
    return this.#freeBlocks.pop() ?? new Int16Array(BLOCK_SAMPLES);
  }

  release(block: SpeechBlock): void {
    if (this.#freeBlocks.length < FREE_BLOCKS_MAX) this.#freeBlocks.push(block);
  }
}

/** A reply that has been played, or was cut off. */
export interface FinishedReply {
  readonly generation: number;
  readonly playedMs: number;
  readonly isComplete: boolean;
}

/** The reply under way. */
class Reply {
  readonly generation: number;
  /** Block that frames are taken from; undefined while the queue is empty. */
  block: SpeechBlock | undefined;
  /** Played samples of that block: whole frames. */
  offset = 0;
  queuedSamples = 0;
  playedSamples = 0;
  hasEnd = false;
  isPaused = false;
  /** Samples in the last block, played ones included. */
  filled = BLOCK_SAMPLES;
  /** Following blocks, in order; all but the last are full. */
  readonly later: SpeechBlock[] = [];

  constructor(generation: number) {
    this.generation = generation;
  }
}

/** One session's playout. Audio of an older generation than the newest one begun is never played. */
export class Playout {
  readonly #memory: SpeechMemory;
  #newest = Number.NEGATIVE_INFINITY;
  #reply: Reply | undefined;

  /** @param memory shared by the sessions of a thread. */
  constructor(memory = new SpeechMemory()) {
    this.#memory = memory;
  }

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

  /** Whether the next `takeInto` has audio. */
  get hasAudio(): boolean {
    const reply = this.#reply;
    if (reply === undefined || reply.isPaused) return false;
    return reply.queuedSamples >= (reply.hasEnd ? 1 : FRAME_SAMPLES);
  }

  /** Begins a reply; ignored for old numbers. @returns the reply that it cut off. */
  begin(generation: number): FinishedReply | undefined {
    if (generation <= this.#newest) return undefined;
    const cutOff = this.#end(false);
    this.#newest = generation;
    this.#reply = new Reply(generation);
    return cutOff;
  }

  /** Adds a copy of audio; ignored for other replies. @returns whether all of it found room. */
  say(generation: number, pcm: Int16Array): boolean {
    const reply = this.#find(generation);
    if (reply === undefined || reply.hasEnd || pcm.length === 0) return true;
    const room = Math.min(pcm.length, SAMPLES_MAX - reply.queuedSamples);
    this.#append(reply, room === pcm.length ? pcm : pcm.subarray(0, room));
    return room === pcm.length;
  }

  /** Marks the end of the reply's audio. @returns the reply if it is over. */
  finish(generation: number): FinishedReply | undefined {
    const reply = this.#find(generation);
    if (reply === undefined) return undefined;
    reply.hasEnd = true;
    return this.endIfPlayed();
  }

  /** Ends the reply and drops its audio. @returns it. */
  drop(generation: number): FinishedReply | undefined {
    return this.#find(generation) === undefined ? undefined : this.#end(false);
  }

  /** Ends the reply, and accepts no other one. */
  clear(): void {
    this.#newest = Number.POSITIVE_INFINITY;
    this.#end(false);
  }

  /** Pauses playout; the tail is kept. */
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
    if (reply?.block === undefined || !this.hasAudio) return false;
    const { block, offset } = reply;
    const length = Math.min(FRAME_SAMPLES, reply.queuedSamples);
    // Sample by sample: for so few, a view costs more than the copy.
    for (let index = 0; index < length; index += 1) frame[index] = block[offset + index] ?? 0;
    if (length < FRAME_SAMPLES) frame.fill(0, length);
    this.#skip(reply, length);
    return true;
  }

  /** Ends the reply when its last frame has been taken. @returns it. */
  endIfPlayed(): FinishedReply | undefined {
    const reply = this.#reply;
    return reply?.hasEnd && reply.queuedSamples === 0 ? this.#end(true) : undefined;
  }

  #find(generation: number): Reply | undefined {
    return this.#reply?.generation === generation ? this.#reply : undefined;
  }

  #append(reply: Reply, pcm: Int16Array): void {
    for (let added = 0; added < pcm.length; ) {
      const last = (reply.filled < BLOCK_SAMPLES && lastOf(reply)) || this.#extend(reply);
      const part = pcm.subarray(added, added + BLOCK_SAMPLES - reply.filled);
      last.set(part, reply.filled);
      reply.filled += part.length;
      added += part.length;
    }
    reply.queuedSamples += pcm.length;
  }

  #extend(reply: Reply): SpeechBlock {
    const block = this.#memory.claim();
    if (reply.block === undefined) reply.block = block;
    else reply.later.push(block);
    reply.filled = 0;
    return block;
  }

  /** Advances past a frame, and releases a block whose last frame it was. */
  #skip(reply: Reply, length: number): void {
    reply.queuedSamples -= length;
    reply.playedSamples += length;
    reply.offset += length;
    if (reply.offset < BLOCK_SAMPLES) return;
    if (reply.block !== undefined) this.#memory.release(reply.block);
    reply.block = reply.later.shift();
    reply.offset = 0;
  }

  #end(isComplete: boolean): FinishedReply | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    if (reply === undefined) return undefined;
    const { generation, playedSamples, block, later } = reply;
    for (const kept of block === undefined ? later : [block, ...later]) this.#memory.release(kept);
    return { generation, playedMs: toMs(playedSamples), isComplete };
  }
}

function lastOf({ block, later }: Reply): SpeechBlock | undefined {
  return later.at(-1) ?? block;
}

function toMs(samples: number): number {
  return (samples * 1000) / LINE_RATE_HZ;
}
