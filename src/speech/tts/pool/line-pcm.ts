/** Speech as line-rate PCM: from the bytes of a server's audio, at an even loudness, without silence at its ends; pure */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { Resampler } from '../../stt/features/resampler.ts';

interface PcmShape {
  readonly rateHz: number;
  /** 1 or 2; the mean of both is kept. */
  readonly channels: number;
  /** True for raw samples: no header is expected. */
  readonly isBare?: boolean;
}

/** Longest header before the samples of a WAV file; others have lists of artists there. */
const HEADER_BYTES_MAX = 4096;

/** Takes raw signed 16-bit little-endian samples, or a WAV file of them. Keeps state: use one instance an answer. */
export class LinePcm {
  #shape: PcmShape;
  #resampler: Resampler | null = null;
  /** Bytes that do not make a whole sample, or a whole header, yet. */
  #rest: Buffer = Buffer.alloc(0);
  #hasBegun = false;

  /** @param shape of raw samples; a WAV header overrides it. */
  constructor(shape: PcmShape) {
    this.#shape = checked(shape);
    this.#hasBegun = shape.isBare === true;
  }

  /** @returns 8 kHz, mono, signed 16-bit. @throws {Error} when the bytes are of another format. */
  push(bytes: Uint8Array): Int16Array {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    if (!this.#hasBegun && !this.#begin()) return new Int16Array(0);
    const frameBytes = 2 * this.#shape.channels;
    const whole = this.#rest.length - (this.#rest.length % frameBytes);
    const samples = monoOf(this.#rest.subarray(0, whole), this.#shape.channels);
    this.#rest = this.#rest.subarray(whole);
    return this.#toLine(samples);
  }

  /** @returns the end of the sound, which the resampler still held. */
  flush(): Int16Array {
    return this.#resampler === null ? new Int16Array(0) : rounded(this.#resampler.flush());
  }

  /** @returns whether the samples have begun. */
  #begin(): boolean {
    if (this.#rest.length < 4) return false;
    const mark = this.#rest.toString('latin1', 0, 4);
    if (/^(ID3|OggS|fLaC)/.test(mark) || isMpegFrame(this.#rest)) {
      throw new Error('it sent compressed audio instead of PCM');
    }
    // Four characters: a sample alone may well look like a bracket.
    if (/^[{<][\s\x20-\x7e]{3}/.test(mark)) throw new Error('it sent text instead of audio');
    if (mark !== 'RIFF') {
      this.#hasBegun = true;
      return true;
    }
    const start = this.#readWavHeader();
    if (start === undefined) return false;
    this.#rest = this.#rest.subarray(start);
    this.#hasBegun = true;
    return true;
  }

  /** @returns where the samples begin; undefined while the header is not whole. */
  #readWavHeader(): number | undefined {
    let at = 12;
    while (at + 8 <= this.#rest.length) {
      const name = this.#rest.toString('latin1', at, at + 4);
      const size = this.#rest.readUInt32LE(at + 4);
      if (name === 'data') return at + 8;
      if (name === 'fmt ') {
        if (at + 24 > this.#rest.length) return undefined;
        const [format, bits] = [this.#rest.readUInt16LE(at + 8), this.#rest.readUInt16LE(at + 22)];
        if (format !== 1 || bits !== 16)
          throw new Error('it sent a WAV file that is not 16-bit PCM');
        this.#shape = checked({
          channels: this.#rest.readUInt16LE(at + 10),
          rateHz: this.#rest.readUInt32LE(at + 12),
        });
      }
      at += 8 + size + (size % 2);
      if (at > HEADER_BYTES_MAX) throw new Error('it sent a WAV file without samples');
    }
    return undefined;
  }

  #toLine(samples: Int16Array): Int16Array {
    if (this.#shape.rateHz === LINE_RATE_HZ) return samples;
    this.#resampler ??= new Resampler(this.#shape.rateHz);
    return rounded(this.#resampler.push(samples));
  }
}

/** Whether it is MPEG Layer III, at any bit rate. PCM seldom begins with these bytes: they would be a loud click. */
function isMpegFrame(bytes: Buffer): boolean {
  return bytes[0] === 0xff && [0xf2, 0xf3, 0xfa, 0xfb].includes(bytes[1] ?? 0);
}

function checked(shape: PcmShape): PcmShape {
  const { rateHz, channels } = shape;
  const isRate = Number.isInteger(rateHz) && rateHz >= LINE_RATE_HZ && rateHz <= 96_000;
  if (isRate && (channels === 1 || channels === 2)) return shape;
  throw new Error(`it sent audio of ${rateHz} Hz and ${channels} channels`);
}

function monoOf(bytes: Buffer, channels: number): Int16Array {
  const samples = new Int16Array(bytes.length / 2 / channels);
  for (let at = 0; at < samples.length; at += 1) {
    const left = bytes.readInt16LE(2 * at * channels);
    samples[at] = channels === 1 ? left : (left + bytes.readInt16LE(4 * at + 2)) >> 1;
  }
  return samples;
}

function rounded(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample))),
  );
}

/** Level of speech, RMS over its voiced parts, that every engine aims at. */
export const LOUDNESS_DBFS = -18;

export const FULL_SCALE = 32_768;

/** Threshold of soft clipping, which bends the wave instead of cutting it off: -4 dBFS. */
const KNEE = 0.63 * FULL_SCALE;

/** Silence threshold: -50 dBFS. */
const SILENCE = 0.003 * FULL_SCALE;

/** Kept before the first sound, so that no consonant loses its beginning. */
const LEAD_SAMPLES = (8 * LINE_RATE_HZ) / 1000;

/** One utterance on its way to the line. */
export class VoiceLine {
  readonly #gain: number;
  readonly #pauseSamples: number;
  #hasBegun = false;
  /** Silence that may turn out to be the end, or not. */
  #quiet: Int16Array = new Int16Array(0);

  /** @param options.pauseAfterMs silence to leave at the end. */
  constructor(options: { readonly gainDb: number; readonly pauseAfterMs: number }) {
    this.#gain = 10 ** (options.gainDb / 20);
    this.#pauseSamples = Math.round((options.pauseAfterMs * LINE_RATE_HZ) / 1000);
  }

  /** @param samples at 8 kHz, of a 16-bit scale. */
  push(samples: Float32Array): Int16Array {
    return this.#trim(Int16Array.from(samples, (sample) => bend(sample * this.#gain)));
  }

  /** The pause at the end; empty when there was no sound. */
  end(): Int16Array {
    if (!this.#hasBegun) return new Int16Array(0);
    const pause = new Int16Array(this.#pauseSamples);
    pause.set(this.#quiet.subarray(0, this.#pauseSamples));
    return pause;
  }

  #trim(samples: Int16Array): Int16Array {
    const first = samples.findIndex(isSound);
    if (first < 0) {
      this.#quiet = concat(this.#quiet, samples);
      return new Int16Array(0);
    }
    const last = samples.findLastIndex(isSound);
    const before = concat(this.#quiet, samples.subarray(0, first));
    this.#quiet = samples.slice(last + 1);
    const kept = this.#hasBegun ? before : before.slice(-LEAD_SAMPLES);
    this.#hasBegun = true;
    return concat(kept, samples.subarray(first, last + 1));
  }
}

/** Soft limiter: compresses loud samples, so that no peak is clipped. */
function bend(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) {
    return Math.round(sample);
  }
  const room = FULL_SCALE - 1 - KNEE;
  return Math.round(Math.sign(sample) * (KNEE + room * Math.tanh((size - KNEE) / room)));
}

function isSound(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}

/** One after the other. */
export function concat(...pieces: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
