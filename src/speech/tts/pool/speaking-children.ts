/** The synthesizer pool: the child processes of one engine; each sentence goes to the least busy one. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { SpeakingChild } from './speaking-child-keeper.ts';
import { SpeakingProcess } from './speaking-process.ts';
import {
  type ModelFailure,
  type SpokenSentence,
  SynthesisError,
  type WordEnds,
} from './synthesizer.ts';

export interface SpeakingChildrenOptions {
  readonly child: SpeakingChild;
  /** At least one. */
  readonly count: number;
  /** Limit of sentences under way, over all calls. More are refused. */
  readonly sentencesMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answerTimeoutMs: number;
  readonly onFailures?: (failures: readonly ModelFailure[]) => void;
}

export class SpeakingChildren<Sentence extends SpokenSentence> {
  readonly #sentencesMax: number;
  readonly #children: readonly SpeakingProcess<Sentence>[];

  constructor({ count, sentencesMax, ...options }: SpeakingChildrenOptions) {
    this.#sentencesMax = sentencesMax;
    this.#children = Array.from({ length: count }, () => new SpeakingProcess<Sentence>(options));
  }

  /** @throws {SynthesisError} when one cannot speak; then none runs. */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#children.map((child) => child.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop()));
  }

  /**
   * Speaks; leaving the loop cancels the sentence.
   *
   * @throws {SynthesisError} when too much is waiting, or the child fails.
   * @throws the signal's reason.
   */
  async *speak(
    sentence: Sentence,
    { signal, onWords }: SpeakingListener = {},
  ): AsyncGenerator<Int16Array> {
    const { audio, cancel } = this.#leastBusy().speak(sentence, onWords);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      for (let pcm = await audio.next(); pcm !== null; pcm = await audio.next()) {
        signal?.throwIfAborted();
        yield pcm;
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', cancel);
      cancel();
    }
  }

  /** Has all of them get ready for the voice. */
  warm(voice: Sentence['voice']): void {
    for (const child of this.#children) child.warm(voice);
  }

  #leastBusy(): SpeakingProcess<Sentence> {
    const total = this.#children.reduce((sum, child) => sum + child.load, 0);
    const [first, ...others] = this.#children;
    if (first === undefined || total >= this.#sentencesMax) {
      throw new SynthesisError(`Cannot speak: ${total} sentences are waiting to be spoken`);
    }
    return others.reduce((least, child) => (child.load < least.load ? child : least), first);
  }
}

export interface SpeakingListener {
  readonly signal?: AbortSignal | undefined;
  readonly onWords?: ((ends: WordEnds) => void) | undefined;
}
