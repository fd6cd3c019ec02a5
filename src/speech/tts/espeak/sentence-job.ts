/** One sentence on its way through the speaking child: WAV in, line-rate PCM out in handy pieces. */

import { messageOf } from '../../../lib/unknown-value.ts';
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import { Resampler } from '../../stt/features/resampler.ts';
import { concat, VoiceLine } from '../pool/line-pcm.ts';
import type { SpeakingReply } from '../pool/synthesizer-pool.ts';
import type { Sentence } from './espeak-voice.ts';

/** Work done on a wave between two looks at whether the first piece can go: 46 ms of speech. */
const STEP_BYTES = 2048;

/** The first piece goes at once; later ones wait for this much, since every message costs the server time. */
const PIECE_SAMPLES = LINE_RATE_HZ / 4;

/** No text of the permitted length takes longer to say: ten minutes. */
const SENTENCE_SAMPLES_MAX = 600 * LINE_RATE_HZ;

export class SentenceJob implements WaveSink {
  readonly #id: number;
  readonly #reply: (message: SpeakingReply) => void;
  readonly #over: () => void;
  readonly #wave: EspeakWave;
  #pieces: Int16Array[] = [];
  #pieceSamples = 0;
  #sentSamples = 0;
  #isOver = false;

  /** @param options.over called once, when the sentence has ended or failed. */
  constructor(options: {
    readonly id: number;
    readonly sentence: Sentence;
    readonly reply: (message: SpeakingReply) => void;
    readonly over: () => void;
  }) {
    this.#id = options.id;
    this.#reply = options.reply;
    this.#over = options.over;
    const { voice, pauseAfterMs } = options.sentence;
    this.#wave = new EspeakWave({ gainDb: voice.gainDb, pauseAfterMs });
  }

  wave(bytes: Uint8Array): void {
    if (this.#isOver) {
      return;
    }
    try {
      for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        this.#add(this.#wave.push(bytes.subarray(at, at + STEP_BYTES)));
      }
    } catch (error) {
      this.failed(messageOf(error));
    }
  }

  ended(): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#add(this.#wave.end());
    this.#send();
    this.#reply({ kind: 'ended', id: this.#id });
    this.#over();
  }

  failed(reason: string): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#reply({ kind: 'failed', id: this.#id, reason });
    this.#over();
  }

  #add(pcm: Int16Array): void {
    const room = SENTENCE_SAMPLES_MAX - this.#sentSamples - this.#pieceSamples;
    const piece = pcm.subarray(0, Math.max(0, room));
    this.#pieces.push(piece);
    this.#pieceSamples += piece.length;
    if (this.#sentSamples === 0 || this.#pieceSamples >= PIECE_SAMPLES) {
      this.#send();
    }
  }

  #send(): void {
    if (this.#pieceSamples === 0) {
      return;
    }
    const pcm = concat(...this.#pieces);
    this.#sentSamples += pcm.length;
    this.#pieces = [];
    this.#pieceSamples = 0;
    this.#reply({ kind: 'audio', id: this.#id, pcm });
  }
}

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

  /** The rest, with `pauseAfterMs` of silence at the end; empty when there was no sound. */
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

/** Receives espeak-ng's output for one sentence. No call follows `ended` or `failed`. */
export interface WaveSink {
  /** Pieces of a WAV stream, of any size. The bytes may be reused after the call. */
  wave(bytes: Uint8Array): void;
  ended(): void;
  failed(reason: string): void;
}

/** Speaks sentences, several at a time or in turn. */
export interface SentenceEngine {
  /** @throws {Error} when the engine cannot speak at all. */
  start(): Promise<void>;

  /** Ends its processes, and waits until they have ended. Safe to call twice. */
  stop(): Promise<void>;

  /**
   * Speaks one sentence.
   *
   * @returns cancels it: the sink is not called again. Safe to call twice, and after the end.
   */
  speak(sentence: Sentence, sink: WaveSink): () => void;
}
