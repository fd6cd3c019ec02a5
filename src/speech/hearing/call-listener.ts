/** One call as the hearing thread has it: reads its ring, follows its voice, keeps its utterance. */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import type { ReceiveRing } from '../../media/buffers/receive-ring.ts';
import { withoutHallucination } from '../stt/decoding/hallucination-gate.ts';
import type {
  CallDesk,
  LaneUtterance,
  PendingRecognition,
  RecognitionOrder,
  UtteranceOptions,
} from '../stt/pool/lane-request.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';
import type { VadTrack } from '../vad/vad-track.ts';
import { RecognitionError, type RecognizedWord, type VoiceEvent } from './hearing.ts';

/** Kept of what came before an utterance: the detector needs two windows to be sure, and a soft start is no voice yet. */
const PRE_ROLL_MS = 300;

/** A caller whose telephone sends nothing while it is quiet has stopped speaking. */
const NO_AUDIO_MS = 200;

/** A request of the conversation that is under way. */
export interface PendingTranscript {
  readonly answer: Promise<Recognition>;
  cancel(): void;
}

export class CallListener {
  readonly #heard: ReceiveRing;
  readonly #options: { readonly language: string; readonly prompt?: string };
  readonly #track: VadTrack | null;
  readonly #desk: CallDesk | null;
  /** Position after the newest sample that was read. */
  #position: number;
  #utterance: { readonly start: number; readonly audio: LongUtterance } | null = null;

  /** Listens from `position` on. Without a detector there are no voice events, without a desk no words. */
  constructor(options: {
    heard: ReceiveRing;
    position: number;
    language: string;
    prompt?: string | undefined;
    track: VadTrack | null;
    desk: CallDesk | null;
  }) {
    this.#heard = options.heard;
    const { language, prompt } = options;
    this.#options = { language, ...(prompt !== undefined && { prompt }) };
    this.#track = options.track;
    this.#desk = options.desk;
    this.#position = options.position;
    this.#track?.skipTo(this.#position);
  }

  /** Reads what was heard since the last time. */
  read(): void {
    const oldest = this.#heard.oldest;
    if (this.#position < oldest) {
      this.#position = oldest;
      this.#track?.skipTo(oldest);
    }
    const pcm = this.#heard.read(this.#position);
    if (pcm.length === 0) return;
    this.#position += pcm.length;
    this.#track?.push(pcm);
    this.#utterance?.audio.append(pcm);
  }

  /** The next whole window for the detector, if there is one. */
  takeWindow(): ReturnType<VadTrack['takeWindow']> {
    return this.#track?.takeWindow() ?? null;
  }

  /** Takes the score of that window. */
  score(probability: number): VoiceEvent | null {
    const newest = { position: this.#heard.end, atMs: this.#heard.endAtMs };
    return this.#track?.score(probability, newest) ?? null;
  }

  /** Notices that audio has stopped coming altogether. */
  noticeSilence(nowMs: number): VoiceEvent | null {
    const isSilent = nowMs - this.#heard.endAtMs > NO_AUDIO_MS;
    return isSilent ? (this.#track?.fallSilent() ?? null) : null;
  }

  /** Starts an utterance with what was heard from 300 ms before `fromMs` on. One that is open is ended. */
  begin(fromMs: number): void {
    this.end();
    if (this.#desk === null) return;
    this.read();
    const start = Math.min(this.#position, this.#heard.positionAt(fromMs - PRE_ROLL_MS));
    const audio = new LongUtterance(this.#desk, this.#options);
    audio.append(this.#heard.read(start).subarray(0, this.#position - start));
    this.#utterance = { start, audio };
  }

  /** Asks for the words of the utterance up to now. */
  transcribe(order: RecognitionOrder): PendingTranscript {
    const utterance = this.#utterance;
    if (utterance === null) {
      const reason = this.#desk === null ? 'no recogniser is installed' : 'no utterance has begun';
      return refused(`Cannot recognise the utterance: ${reason}`);
    }
    this.read();
    const { answer, cancel } = utterance.audio.transcribe(order);
    const voice = () => this.#track?.shareFrom(utterance.start) ?? null;
    return { answer: answer.then((heard) => withoutHallucination(heard, voice())), cancel };
  }

  /** The newest samples of the utterance; null when none has begun. */
  newest(samples: number): Int16Array | null {
    this.read();
    return this.#utterance?.audio.newest(samples) ?? null;
  }

  /** Forgets the utterance, once what was asked about it is answered. */
  end(): void {
    this.#utterance?.audio.close();
    this.#utterance = null;
  }
}

function refused(message: string): PendingTranscript {
  return { answer: Promise.reject(new RecognitionError(message)), cancel: () => undefined };
}

/** From here on the next pause is taken. */
const PAUSE_WANTED_SAMPLES = 25 * LINE_RATE_HZ;

/** Here it is cut, pause or not; a word may be lost. */
const CUT_SAMPLES = 29.5 * LINE_RATE_HZ;

/** A piece of audio this much weaker than the part so far is a pause: 20 dB in power. */
const PAUSE_POWER_RATIO = 0.01;

/** Parts that are kept: five minutes without an end. */
const PARTS_MAX = 12;

/** An utterance of any length: where it outgrows the recogniser's window, it goes on in another one at a pause. */
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

/** Weight of the newest answer: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

/** Shared by all recogniser processes of one machine. */
export class AnswerPace {
  #typicalMs = 0;

  /** Running mean; 0 before the first answer. */
  get typicalMs(): number {
    return this.#typicalMs;
  }

  answered(tookMs: number): void {
    const weight = this.#typicalMs === 0 ? 1 : NEWEST_WEIGHT;
    this.#typicalMs += (tookMs - this.#typicalMs) * weight;
  }

  /** Whether an answer is likely to come within `timeoutMs` when `ahead` others come first; true when nothing is known. */
  isInTime(ahead: number, timeoutMs: number): boolean {
    return (ahead + 1) * this.#typicalMs <= timeoutMs;
  }
}

/** Shared by all queues of one machine. */
export class CallerTurns {
  readonly #turns = new WeakMap<object, number>();
  #newest = 0;

  /** Number of the turn that was theirs last; 0 before the first. */
  lastOf(caller: object): number {
    return this.#turns.get(caller) ?? 0;
  }

  took(caller: object): void {
    this.#newest += 1;
    this.#turns.set(caller, this.#newest);
  }

  /** The turn came to nothing: the next one is theirs. */
  giveBack(caller: object): void {
    this.#turns.delete(caller);
  }
}
