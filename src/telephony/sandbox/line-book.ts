/** The voice of the scripted parties: every sentence is spoken once for the whole server, ahead of its time. */
import { type PartyScript, partyLines } from '../../domain/sandbox/sandbox-script.ts';
import type { Logger } from '../../lib/logger.ts';

/** Scripts are few and fixed: what is kept of them is a megabyte. */
export class LineBook {
  readonly #speak: (text: string) => AsyncIterable<Int16Array>;
  readonly #log: Logger;
  readonly #pcm = new Map<string, Int16Array>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: {
    /** Speaks a sentence: 8 kHz, mono, in chunks of any length. */
    readonly speak: (text: string) => AsyncIterable<Int16Array>;
    readonly log: Logger;
  }) {
    this.#speak = options.speak;
    this.#log = options.log;
  }

  /**
   * Speaks what the script has and the book has not; a sentence that failed before is tried again. Never rejects: what
   * cannot be spoken stays silent.
   */
  async prepare(script: PartyScript): Promise<void> {
    await Promise.all(partyLines(script).map((text) => this.#prepareLine(text)));
  }

  /** Undefined unless the sentence is spoken. */
  pcmOf(text: string): Int16Array | undefined {
    return this.#pcm.get(text);
  }

  #prepareLine(text: string): Promise<void> {
    if (this.#pcm.has(text)) return Promise.resolve();
    const underWay = this.#underWay.get(text) ?? this.#speakLine(text);
    this.#underWay.set(text, underWay);
    return underWay;
  }

  async #speakLine(text: string): Promise<void> {
    try {
      const samples: number[] = [];
      for await (const chunk of this.#speak(text)) for (const sample of chunk) samples.push(sample);
      this.#pcm.set(text, Int16Array.from(samples));
    } catch (error) {
      this.#log.warn({ err: error }, 'sandbox: the scripted party has no voice for a sentence');
    } finally {
      this.#underWay.delete(text);
    }
  }
}
