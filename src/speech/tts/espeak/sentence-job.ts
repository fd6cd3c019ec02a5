/** One sentence on its way through the speaking child: WAV in, line-rate PCM out in handy pieces. */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import type { SpeakingReply } from '../pool/speaking-messages.ts';
import type { Sentence } from './espeak-messages.ts';
import { EspeakWave } from './espeak-wave.ts';
import type { WaveSink } from './sentence-engine.ts';

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
      this.failed(error instanceof Error ? error.message : String(error));
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
    const pcm = new Int16Array(this.#pieceSamples);
    let at = 0;
    for (const piece of this.#pieces) {
      pcm.set(piece, at);
      at += piece.length;
    }
    this.#sentSamples += at;
    this.#pieces = [];
    this.#pieceSamples = 0;
    this.#reply({ kind: 'audio', id: this.#id, pcm });
  }
}
