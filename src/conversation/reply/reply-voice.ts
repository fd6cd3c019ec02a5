/** Synthesises one reply clause by clause and holds its audio until release. */
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { type AudioStream, LINE_RATE_HZ } from '../../media/audio-stream.ts';
import type { Pronunciation, Synthesizer, WordEnds } from '../../speech/tts/pool/synthesizer.ts';
import type { TurnEvent } from '../turn/turn-event.ts';

interface Clause {
  readonly clause: number;
  readonly text: string;
}

/** Speech synthesis of one reply; its audio waits for `release`. */
export class ReplyVoice {
  readonly #reply: number;
  readonly #audio: AudioStream;
  readonly #synthesizer: Synthesizer;
  readonly #voice: string;
  readonly #language: string;
  readonly #pronunciations: readonly Pronunciation[];
  readonly #tell: (event: TurnEvent) => void;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #clauses: Clause[] = [];
  #kept: Int16Array[] = [];
  #isSpeaking = false;
  #mayBeHeard = false;
  #hasBegun = false;
  #isLast = false;
  #isFinished = false;

  constructor(options: {
    readonly reply: number;
    readonly audio: AudioStream;
    readonly synthesizer: Synthesizer;
    readonly voice: string;
    readonly language: string;
    readonly pronunciations?: readonly Pronunciation[] | undefined;
    readonly tell: (event: TurnEvent) => void;
    readonly log: Logger;
  }) {
    this.#reply = options.reply;
    this.#audio = options.audio;
    this.#synthesizer = options.synthesizer;
    this.#voice = options.voice;
    this.#language = options.language;
    this.#pronunciations = options.pronunciations ?? [];
    this.#tell = options.tell;
    this.#log = options.log;
  }

  /** Aborted when the reply is dropped. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Queues a clause for synthesis. The turn machine bounds their number. */
  speak(clause: number, text: string): void {
    this.#clauses.push({ clause, text });
    if (!this.#isSpeaking) void this.#speakAll();
  }

  /** Plays the held audio, then audio as it is synthesised. */
  release(): void {
    this.#mayBeHeard = true;
    const kept = this.#kept;
    this.#kept = [];
    for (const pcm of kept) this.#say(pcm);
    this.#finishWhenDone();
  }

  /** Holds audio back again. Audio that was released already is still played. */
  hold(): void {
    this.#mayBeHeard = false;
  }

  /** Says that no more clauses come. */
  finish(): void {
    this.#isLast = true;
    this.#finishWhenDone();
  }

  /** Stops thinking, voicing and playing. Safe to call twice. */
  drop(): void {
    this.#stop.abort(new Error('the reply was dropped'));
    this.#clauses.length = 0;
    this.#kept = [];
    if (this.#hasBegun) this.#audio.drop(this.#reply);
  }

  async #speakAll(): Promise<void> {
    this.#isSpeaking = true;
    for (let next = this.#clauses.shift(); next !== undefined; next = this.#clauses.shift()) {
      await this.#speakOne(next);
    }
    this.#isSpeaking = false;
    this.#finishWhenDone();
  }

  async #speakOne({ clause, text }: Clause): Promise<void> {
    const reply = this.#reply;
    const { signal } = this.#stop;
    try {
      const request = { text, voice: this.#voice, language: this.#language, signal };
      let ends: { readonly wordEnds?: WordEnds } = {};
      const onWords = (wordEnds: WordEnds) => {
        ends = { wordEnds };
      };
      const pronunciations = this.#pronunciations;
      for await (const pcm of this.#synthesizer.speak({ ...request, pronunciations, onWords })) {
        if (signal.aborted) return;
        this.#say(pcm);
        const audioMs = (pcm.length * 1000) / LINE_RATE_HZ;
        this.#tell({ kind: 'voiced', reply, clause, audioMs, isWhole: false, ...ends });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn({ reply, reason: messageOf(error) }, 'voice failed in a call');
    }
    if (!signal.aborted) this.#tell({ kind: 'voiced', reply, clause, audioMs: 0, isWhole: true });
  }

  #say(pcm: Int16Array): void {
    if (pcm.length === 0) return;
    if (!this.#mayBeHeard) {
      this.#kept.push(pcm);
      return;
    }
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#audio.begin(this.#reply);
    }
    this.#audio.say(this.#reply, pcm);
  }

  #finishWhenDone(): void {
    const isDone = this.#isLast && !this.#isSpeaking && this.#clauses.length === 0;
    if (!isDone || !this.#mayBeHeard || this.#isFinished || this.#stop.signal.aborted) return;
    this.#isFinished = true;
    if (this.#hasBegun) {
      this.#audio.finish(this.#reply);
      return;
    }
    // Without audio, the audio stream would never report the end of playout.
    const event = { kind: 'playout-finished', reply: this.#reply, playedMs: 0 } as const;
    this.#tell({ ...event, isComplete: true });
  }
}
