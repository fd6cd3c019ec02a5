/** An utterance of any length: where it outgrows the recogniser's window, it goes on in another one at a pause. */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import type { RecognizedWord } from '../../hearing/hearing.ts';
import type {
  CallDesk,
  LaneUtterance,
  PendingRecognition,
  RecognitionOrder,
  UtteranceOptions,
} from './lane-request.ts';
import type { Recognition } from './recognizer.ts';

/** From here on the next pause is taken. */
const PAUSE_WANTED_SAMPLES = 25 * LINE_RATE_HZ;

/** Here it is cut, pause or not; a word may be lost. */
const CUT_SAMPLES = 29.5 * LINE_RATE_HZ;

/** A piece of audio this much weaker than the part so far is a pause: 20 dB in power. */
const PAUSE_POWER_RATIO = 0.01;

/** Parts that are kept: five minutes without an end. */
const PARTS_MAX = 12;

export class LongUtterance {
  readonly #desk: CallDesk;
  readonly #options: UtteranceOptions;
  readonly #finished: Promise<Recognition>[] = [];
  #current: LaneUtterance;
  #energy = 0;

  constructor(desk: CallDesk, options: UtteranceOptions) {
    this.#desk = desk;
    this.#options = options;
    this.#current = desk.open(options);
  }

  /** Adds audio: 8 kHz, mono, signed 16-bit. */
  append(pcm: Int16Array): void {
    this.#desk.append(this.#current, pcm);
    const energy = pcm.reduce((sum, sample) => sum + sample * sample, 0);
    const isPause =
      energy / pcm.length < (this.#energy / this.#current.audio.length) * PAUSE_POWER_RATIO;
    this.#energy += energy;
    const { length } = this.#current.audio;
    if (length >= CUT_SAMPLES || (length >= PAUSE_WANTED_SAMPLES && isPause)) this.#goOn();
  }

  /** Asks for the words of all parts. */
  transcribe(order: RecognitionOrder): PendingRecognition {
    const last = this.#desk.request(this.#current, order);
    const answer = Promise.all([...this.#finished, last.answer]).then(joined);
    return { answer, cancel: last.cancel };
  }

  /** Copies the newest samples, of the part that goes on. */
  newest(samples: number): Int16Array {
    const { audio } = this.#current;
    return audio.slice(Math.max(0, audio.length - samples), audio.length);
  }

  close(): void {
    this.#desk.close(this.#current);
  }

  /** Has the part so far recognised for good and starts the next. */
  #goOn(): void {
    const { answer } = this.#desk.request(this.#current, { priority: 'final' });
    // Whoever asks for the whole gets the failure; until then nobody else is to.
    answer.catch(() => undefined);
    this.#finished.push(answer);
    if (this.#finished.length > PARTS_MAX) this.#finished.shift();
    this.#desk.close(this.#current);
    this.#current = this.#desk.open(this.#options);
    this.#energy = 0;
  }
}

/** One recognition of several parts in a row; as sure as their mean, by length. */
function joined(parts: readonly Recognition[]): Recognition {
  const [first, ...others] = parts.toReversed();
  if (first === undefined) throw new RangeError('Expected one part at least');
  return others.reduce((whole, part) => {
    const audioMs = whole.audioMs + part.audioMs;
    const mean = (a: number, b: number) => (a * whole.audioMs + b * part.audioMs) / audioMs;
    return {
      text: [part.text, whole.text].filter(Boolean).join(' '),
      words: [...part.words, ...whole.words.map((word) => later(word, part.audioMs))],
      // A part that is over says nothing else any more.
      agreedWords: part.words.length + (whole.agreedWords ?? 0),
      confidence: mean(whole.confidence, part.confidence),
      language: part.language,
      noSpeechProbability: Math.min(whole.noSpeechProbability, part.noSpeechProbability),
      audioMs,
    };
  }, first);
}

/** The word as it lies behind a part of that length. */
function later(word: RecognizedWord, byMs: number): RecognizedWord {
  const { startMs, endMs } = word;
  if (startMs === undefined || endMs === undefined) return word;
  return { ...word, startMs: startMs + byMs, endMs: endMs + byMs };
}
