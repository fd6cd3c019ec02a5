/** One call as the hearing thread has it: reads its ring, follows its voice, keeps its utterance. */
import type { ReceiveRing } from '../../media/buffers/receive-ring.ts';
import { withoutHallucination } from '../stt/decoding/hallucination-gate.ts';
import type { CallDesk, RecognitionOrder } from '../stt/pool/lane-request.ts';
import { LongUtterance } from '../stt/pool/long-utterance.ts';
import type { Recognition } from '../stt/pool/recognizer.ts';
import type { VadTrack } from '../vad/vad-track.ts';
import { RecognitionError, type VoiceEvent } from './hearing.ts';

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
