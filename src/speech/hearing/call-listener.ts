/** One call in the hearing thread: reads its receive ring, tracks voice activity, keeps its utterance. */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import type { ReceiveRing } from '../../media/sound-rings.ts';
import { withoutHallucination } from '../stt/decoding/hallucination-gate.ts';
import { visibleWords } from '../stt/decoding/visible-words.ts';
import type {
  CallRecognizer,
  OpenUtterance,
  PendingRecognition,
  RecognitionOrder,
  UtteranceOptions,
} from '../stt/pool/recognition-request.ts';
import type { Recognition, RecognizedWord } from '../stt/pool/recognizer.ts';
import type { VadTrack } from '../vad/vad-track.ts';
import { RecognitionError, type VoiceEvent } from './hearing.ts';

/** Audio kept from before an utterance: the VAD needs two windows to be sure, and misses a soft start. */
const PRE_ROLL_MS = 300;

/** Time without audio after which the caller has stopped speaking: some telephones send nothing in silence. */
const NO_AUDIO_MS = 200;

/** A transcription request under way. */
export interface PendingTranscript {
  readonly answer: Promise<Recognition>;
  cancel(): void;
}

export class CallListener {
  readonly #ring: ReceiveRing;
  readonly #options: { readonly language: string; readonly prompt?: string };
  readonly #track: VadTrack | null;
  readonly #recognizer: CallRecognizer | null;
  /** Position after the newest sample read. */
  #position: number;
  #utterance: { readonly start: number; readonly audio: LongUtterance } | null = null;

  /** Listens from `position` on. Without a track there are no voice events, without a recogniser no words. */
  constructor(options: {
    ring: ReceiveRing;
    position: number;
    language: string;
    prompt?: string | undefined;
    track: VadTrack | null;
    recognizer: CallRecognizer | null;
  }) {
    this.#ring = options.ring;
    const { language, prompt } = options;
    this.#options = { language, ...(prompt !== undefined && { prompt }) };
    this.#track = options.track;
    this.#recognizer = options.recognizer;
    this.#position = options.position;
    this.#track?.skipTo(this.#position);
  }

  /** Reads the audio that has arrived since the last call. */
  read(): void {
    const oldest = this.#ring.oldest;
    if (this.#position < oldest) {
      this.#position = oldest;
      this.#track?.skipTo(oldest);
    }
    const pcm = this.#ring.read(this.#position);
    if (pcm.length === 0) return;
    this.#position += pcm.length;
    this.#track?.push(pcm);
    this.#utterance?.audio.append(pcm);
  }

  /** The next whole window for the VAD; null when there is none. */
  takeWindow(): ReturnType<VadTrack['takeWindow']> {
    return this.#track?.takeWindow() ?? null;
  }

  /** Takes the VAD's score of that window. */
  score(probability: number): VoiceEvent | null {
    const { end: position, endAtMs: atMs, echoEnd } = this.#ring;
    return this.#track?.score(probability, { position, atMs }, echoEnd) ?? null;
  }

  /** Notices that audio has stopped coming altogether. */
  noticeSilence(nowMs: number): VoiceEvent | null {
    const isSilent = nowMs - this.#ring.endAtMs > NO_AUDIO_MS;
    return isSilent ? (this.#track?.fallSilent() ?? null) : null;
  }

  /** Starts an utterance with the audio from 300 ms before `fromMs` on; ends an open one. */
  begin(fromMs: number): void {
    this.end();
    if (this.#recognizer === null) return;
    this.read();
    const start = Math.min(this.#position, this.#ring.positionAt(fromMs - PRE_ROLL_MS));
    const audio = new LongUtterance(this.#recognizer, this.#options);
    audio.append(this.#ring.read(start).subarray(0, this.#position - start));
    this.#utterance = { start, audio };
  }

  /** Recognises the utterance up to now. */
  transcribe(order: RecognitionOrder): PendingTranscript {
    const utterance = this.#utterance;
    if (utterance === null) {
      const reason =
        this.#recognizer === null ? 'no recogniser is installed' : 'no utterance has begun';
      return {
        answer: Promise.reject(new RecognitionError(`Cannot recognise the utterance: ${reason}`)),
        cancel: () => undefined,
      };
    }
    this.read();
    const { answer, cancel } = utterance.audio.transcribe(order);
    const voice = () => this.#track?.shareFrom(utterance.start) ?? null;
    return {
      answer: answer.then((recognition) =>
        withoutHallucination(visibleWords(recognition), voice()),
      ),
      cancel,
    };
  }

  /** The newest samples of the utterance; null when none has begun. */
  newest(samples: number): Int16Array | null {
    this.read();
    return this.#utterance?.audio.newest(samples) ?? null;
  }

  /** Drops the utterance once its requests are answered. */
  end(): void {
    this.#utterance?.audio.close();
    this.#utterance = null;
  }
}

/** Length after which the utterance is cut at the next pause. */
const PAUSE_WANTED_SAMPLES = 25 * LINE_RATE_HZ;

/** At this length the utterance is cut without a pause; a word may be lost. */
const CUT_SAMPLES = 29.5 * LINE_RATE_HZ;

/** A piece of audio this much weaker than the part so far is a pause: 20 dB in power. */
const PAUSE_POWER_RATIO = 0.01;

/** Parts kept: five minutes of one utterance. */
const PARTS_MAX = 12;

/** A part to which no more audio comes. */
interface FinishedPart {
  readonly part: OpenUtterance;
  answer: Promise<Recognition>;
  state: 'asked' | 'failed' | 'closed';
}

/** An utterance of any length: where it outgrows the recogniser's window, it is cut into parts at pauses. */
export class LongUtterance {
  readonly #recognizer: CallRecognizer;
  readonly #options: UtteranceOptions;
  readonly #finished: FinishedPart[] = [];
  #current: OpenUtterance;
  #energy = 0;

  constructor(recognizer: CallRecognizer, options: UtteranceOptions) {
    this.#recognizer = recognizer;
    this.#options = options;
    this.#current = recognizer.open(options);
  }

  /** Adds audio: 8 kHz, mono, signed 16-bit. */
  append(pcm: Int16Array): void {
    this.#recognizer.append(this.#current, pcm);
    const energy = pcm.reduce((sum, sample) => sum + sample * sample, 0);
    const isPause =
      energy / pcm.length < (this.#energy / this.#current.audio.length) * PAUSE_POWER_RATIO;
    this.#energy += energy;
    const { length } = this.#current.audio;
    if (length >= CUT_SAMPLES || (length >= PAUSE_WANTED_SAMPLES && isPause)) this.#startNextPart();
  }

  /** Recognises all parts; a finished one that has failed is recognised once more. */
  transcribe(order: RecognitionOrder): PendingRecognition {
    for (const finished of this.#finished) {
      if (finished.state !== 'failed') continue;
      finished.answer = this.#request(finished.part);
      this.#watch(finished);
    }
    const last = this.#recognizer.request(this.#current, order);
    const finished = this.#finished.map(({ answer }) => answer);
    const answer = Promise.all([...finished, last.answer]).then(joined);
    return { answer, cancel: last.cancel };
  }

  /** Copies the newest samples of the current part. */
  newest(samples: number): Int16Array {
    const { audio } = this.#current;
    return audio.slice(Math.max(0, audio.length - samples), audio.length);
  }

  close(): void {
    this.#recognizer.close(this.#current);
    for (const finished of this.#finished) this.#closePart(finished);
  }

  /** Requests the final recognition of the current part and starts the next one. */
  #startNextPart(): void {
    this.#finished.push(this.#finish(this.#current));
    const dropped = this.#finished.length > PARTS_MAX ? this.#finished.shift() : undefined;
    if (dropped !== undefined) this.#closePart(dropped);
    this.#current = this.#recognizer.open(this.#options);
    this.#energy = 0;
  }

  #finish(part: OpenUtterance): FinishedPart {
    const finished: FinishedPart = { part, answer: this.#request(part), state: 'asked' };
    this.#watch(finished);
    return finished;
  }

  #request(part: OpenUtterance): Promise<Recognition> {
    return this.#recognizer.request(part, { priority: 'final' }).answer;
  }

  /** Keeps the audio of a part until it is recognised. A failure surfaces in `transcribe`. */
  #watch(finished: FinishedPart): void {
    finished.state = 'asked';
    finished.answer.then(
      () => this.#closePart(finished),
      () => {
        if (finished.state === 'asked') finished.state = 'failed';
      },
    );
  }

  #closePart(finished: FinishedPart): void {
    if (finished.state === 'closed') return;
    finished.state = 'closed';
    this.#recognizer.close(finished.part);
  }
}

/** Joins the recognitions of consecutive parts; the confidence is their mean, weighted by length. */
function joined(parts: readonly Recognition[]): Recognition {
  const [first, ...others] = parts.toReversed();
  if (first === undefined) throw new RangeError('Expected one part at least');
  return others.reduce((whole, part) => {
    const audioMs = whole.audioMs + part.audioMs;
    const mean = (a: number, b: number) => (a * whole.audioMs + b * part.audioMs) / audioMs;
    return {
      text: [part.text, whole.text].filter(Boolean).join(' '),
      words: [...part.words, ...whole.words.map((word) => later(word, part.audioMs))],
      // The words of a finished part are stable.
      agreedWords: part.words.length + (whole.agreedWords ?? 0),
      confidence: mean(whole.confidence, part.confidence),
      language: part.language,
      noSpeechProbability: Math.min(whole.noSpeechProbability, part.noSpeechProbability),
      audioMs,
    };
  }, first);
}

/** Shifts the word's times behind a part of that length. */
function later(word: RecognizedWord, byMs: number): RecognizedWord {
  const { startMs, endMs } = word;
  if (startMs === undefined || endMs === undefined) return word;
  return { ...word, startMs: startMs + byMs, endMs: endMs + byMs };
}
