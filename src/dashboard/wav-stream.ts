/** Reads the sound of a WAV that never ends, from pieces of any size; pure */

const HEADER_BYTES = 44;
const FRAME_BYTES = 4;
const FULL_SCALE = 32_768;

/** Both sides of a call, as many samples each, from −1 to 1. */
export interface StereoSound {
  readonly caller: Float32Array<ArrayBuffer>;
  readonly agent: Float32Array<ArrayBuffer>;
}

/**
 * Takes 16-bit stereo PCM behind a header of 44 bytes, caller left and agent right.
 *
 * @see http://soundfile.sapp.org/doc/WaveFormat/
 */
export class WavStreamReader {
  #rest = new Uint8Array(0);
  #rateHz: number | undefined;

  /** Samples a second of either side; undefined until the header has come. */
  get rateHz(): number | undefined {
    return this.#rateHz;
  }

  /** @returns the sound that the piece completed, if any. @throws {RangeError} when it is no such WAV. */
  push(piece: Uint8Array): StereoSound {
    const bytes = new Uint8Array(this.#rest.length + piece.length);
    bytes.set(this.#rest);
    bytes.set(piece, this.#rest.length);
    const start = this.#rateHz === undefined ? this.#header(bytes) : 0;
    const frames = start === undefined ? 0 : Math.floor((bytes.length - start) / FRAME_BYTES);
    this.#rest = bytes.slice((start ?? 0) + frames * FRAME_BYTES);
    return soundOf(new DataView(bytes.buffer, start ?? 0), frames);
  }

  /** @returns where the sound begins; undefined while the header is not whole. */
  #header(bytes: Uint8Array): number | undefined {
    if (bytes.length < HEADER_BYTES) return undefined;
    const view = new DataView(bytes.buffer);
    const [channels, rateHz, bits] = [
      view.getUint16(22, true),
      view.getUint32(24, true),
      view.getUint16(34, true),
    ];
    const isWav = textAt(bytes, 0) === 'RIFF' && textAt(bytes, 36) === 'data';
    if (!isWav || channels !== 2 || bits !== 16 || rateHz === 0) {
      throw new RangeError('The sound of the call is in a form that this page does not know');
    }
    this.#rateHz = rateHz;
    return HEADER_BYTES;
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function soundOf(view: DataView, frames: number): StereoSound {
  const [caller, agent] = [new Float32Array(frames), new Float32Array(frames)];
  for (let frame = 0; frame < frames; frame += 1) {
    caller[frame] = view.getInt16(frame * FRAME_BYTES, true) / FULL_SCALE;
    agent[frame] = view.getInt16(frame * FRAME_BYTES + 2, true) / FULL_SCALE;
  }
  return { caller, agent };
}

/** Delay before the first piece is played, so that later pieces may be late without a gap. */
const LEAD_SECONDS = 0.25;

/** Sound that has piled up beyond this is passed over, so that the listener stays near the present. */
const AHEAD_SECONDS_MAX = 1.5;

/** Schedules chunks end to end; starts again, a little ahead, after a gap. Keeps state: one per listener. */
export class SoundSchedule {
  #endsAt = 0;

  /**
   * @param now the loudspeaker's clock, in seconds.
   * @returns the instant at which the piece begins, by the same clock; undefined when it is to be passed over.
   */
  place(now: number, durationSeconds: number): number | undefined {
    if (this.#endsAt - now > AHEAD_SECONDS_MAX) return undefined;
    const startsAt = this.#endsAt > now ? this.#endsAt : now + LEAD_SECONDS;
    this.#endsAt = startsAt + durationSeconds;
    return startsAt;
  }
}
