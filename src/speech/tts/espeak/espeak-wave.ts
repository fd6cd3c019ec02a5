/** Turns the WAV stream that espeak-ng writes into line-rate PCM of even loudness; pure */
import { Resampler } from '../../stt/features/resampler.ts';
import { concat, VoiceLine } from '../pool/voice-line.ts';

const HEADER_BYTES = 44;
/**
 * Reads one utterance's WAV, in pieces of any size:
 *
 *     RIFF size WAVE fmt_ 16 format channels rate ... data size   44 bytes, rate at 24, little-endian
 *     samples                                                     signed 16-bit, mono
 *
 * The sizes are not used: the program does not know them when it writes the header.
 */
export class EspeakWave {
  readonly #line: VoiceLine;
  #bytes: Buffer = Buffer.alloc(0);
  #resampler: Resampler | undefined;

  constructor(options: { readonly gainDb: number; readonly pauseAfterMs: number }) {
    this.#line = new VoiceLine(options);
  }

  /** @throws {RangeError} when the stream is not a WAV of a usable rate. */
  push(bytes: Uint8Array): Int16Array {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    this.#resampler ??= this.#readHeader();
    return this.#resampler === undefined
      ? new Int16Array(0)
      : this.#line.push(this.#resampler.push(this.#takeSamples()));
  }

  /** The rest, with `pauseAfterMs` of silence at the end; nothing when there was no sound at all. */
  end(): Int16Array {
    const tail = this.#line.push(this.#resampler?.flush() ?? new Float32Array(0));
    return concat(tail, this.#line.end());
  }

  #readHeader(): Resampler | undefined {
    if (this.#bytes.length < HEADER_BYTES) {
      return undefined;
    }
    if (this.#bytes.toString('latin1', 0, 4) !== 'RIFF') {
      throw new RangeError('Cannot read the speech of espeak-ng: not a WAV stream');
    }
    const resampler = new Resampler(this.#bytes.readUInt32LE(24));
    this.#bytes = this.#bytes.subarray(HEADER_BYTES);
    return resampler;
  }

  /** Whole samples; an odd last byte waits for its other half. */
  #takeSamples(): Int16Array {
    const count = this.#bytes.length >> 1;
    const samples = new Int16Array(count);
    for (let n = 0; n < count; n++) {
      samples[n] = this.#bytes.readInt16LE(2 * n);
    }
    this.#bytes = this.#bytes.subarray(2 * count);
    return samples;
  }
}
