/** Keeps the PCM of phrases that are said again and again, so that they sound at once. */
import { hash } from 'node:crypto';
import type { EngineReport } from '../../hearing/hearing.ts';
import { concat } from '../pool/line-pcm.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice, WordEnds } from '../pool/synthesizer.ts';

/** Phrases cached by a hash only, to tell a second saying from a first. */
const ONCE_SAID_MAX = 2000;

/** Longer phrases are not kept: a minute of speech. */
const PHRASE_BYTES_MAX = 60 * 8000 * 2;

export interface PhraseCacheOptions {
  readonly synthesizer: Synthesizer;
  /** Bound of all PCM kept. The phrase unused for longest goes first. */
  readonly sizeBytesMax: number;
}

interface KeptPhrase {
  readonly pcm: Int16Array;
  readonly wordEnds: WordEnds | undefined;
}

/**
 * Cache in front of another synthesizer. It keeps a phrase that was prepared, or is spoken in full for the
 * second time; phrases spoken once, most of a conversation, are never kept.
 */
export class PhraseCache implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #sizeBytesMax: number;
  /** Phrases by `#keyOf`, the one used last at the end. */
  readonly #phrases = new Map<string, KeptPhrase>();
  readonly #preparing = new Map<string, Promise<void>>();
  readonly #onceSaid = new Set<string>();
  #sizeBytes = 0;
  #started: Promise<void> | undefined;

  constructor({ synthesizer, sizeBytesMax }: PhraseCacheOptions) {
    this.#synthesizer = synthesizer;
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** PCM kept at the moment. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Asked again, it waits for the start that has begun. */
  start(): Promise<void> {
    this.#started ??= this.#synthesizer.start();
    return this.#started;
  }

  async stop(): Promise<void> {
    this.#started = undefined;
    this.#phrases.clear();
    this.#onceSaid.clear();
    this.#sizeBytes = 0;
    await this.#synthesizer.stop();
  }

  report(): EngineReport {
    return this.#synthesizer.report();
  }

  reportFor(voice: VoiceChoice): EngineReport {
    return this.#synthesizer.reportFor?.(voice) ?? this.#synthesizer.report();
  }

  /**
   * Speaks a phrase ahead of time, such as a greeting. Once is enough while the cache has room.
   *
   * @throws {SynthesisError}
   */
  prepare(request: SpeechRequest): Promise<void> {
    const key = this.#keyOf(request);
    if (this.#phrases.has(key)) {
      return Promise.resolve();
    }
    const underWay = this.#preparing.get(key) ?? this.#speakAhead(key, request);
    this.#preparing.set(key, underWay);
    return underWay;
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    request.signal?.throwIfAborted();
    const key = this.#keyOf(request);
    const known = this.#phrases.get(key);
    if (known !== undefined) {
      this.#phrases.delete(key);
      this.#phrases.set(key, known);
      if (known.wordEnds !== undefined) request.onWords?.(known.wordEnds);
      // A copy, because the buffer may be handed on to another thread.
      yield known.pcm.slice();
      return;
    }
    if (this.#isFirstTime(key)) {
      yield* this.#synthesizer.speak(request);
      return;
    }
    yield* this.#speakAndKeep(key, request);
  }

  async #speakAhead(key: string, request: SpeechRequest): Promise<void> {
    try {
      for await (const _ of this.#speakAndKeep(key, request));
    } finally {
      this.#preparing.delete(key);
    }
  }

  async *#speakAndKeep(key: string, request: SpeechRequest): AsyncIterable<Int16Array> {
    const chunks: Int16Array[] = [];
    let wordEnds: WordEnds | undefined;
    const onWords = (ends: WordEnds) => {
      wordEnds = ends;
      request.onWords?.(ends);
    };
    for await (const chunk of this.#synthesizer.speak({ ...request, onWords })) {
      chunks.push(chunk.slice());
      yield chunk;
    }
    // Another engine may have taken over meanwhile: its voice is not kept under this one's name.
    if (this.#keyOf(request) === key) this.#keep(key, { pcm: concat(...chunks), wordEnds });
  }

  /** Key of voice, text, pronunciations, and the engine that speaks them now. */
  #keyOf(request: SpeechRequest): string {
    const { voice, language, text, pronunciations = [] } = request;
    const { engine } = this.reportFor(request);
    return JSON.stringify([engine, voice, language, text, pronunciations]);
  }

  #isFirstTime(key: string): boolean {
    const digest = hash('sha256', key, 'base64');
    if (this.#onceSaid.delete(digest)) {
      return false;
    }
    this.#onceSaid.add(digest);
    const [oldest] = this.#onceSaid;
    if (oldest !== undefined && this.#onceSaid.size > ONCE_SAID_MAX) {
      this.#onceSaid.delete(oldest);
    }
    return true;
  }

  #keep(key: string, phrase: KeptPhrase): void {
    const { pcm } = phrase;
    const sizeBytesMax = Math.min(PHRASE_BYTES_MAX, this.#sizeBytesMax);
    const isTooLong = pcm.byteLength > sizeBytesMax;
    // Words without sound would take no room, and so never make any.
    if (this.#phrases.has(key) || isTooLong || pcm.length === 0) {
      return;
    }
    this.#phrases.set(key, phrase);
    this.#sizeBytes += pcm.byteLength;
    for (const [oldKey, old] of this.#phrases) {
      if (this.#sizeBytes <= this.#sizeBytesMax) {
        return;
      }
      this.#phrases.delete(oldKey);
      this.#sizeBytes -= old.pcm.byteLength;
    }
  }
}
