/** Sends sentences to one synthesizer child and returns their audio. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { type SpeakingChild, SpeakingChildKeeper } from './speaking-child-keeper.ts';
import {
  type ModelFailure,
  type SpeakingReply,
  type SpokenSentence,
  SynthesisError,
  type WordEnds,
} from './synthesizer.ts';

export interface SpeakingOptions {
  readonly child: SpeakingChild;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest wait for the next piece of a sentence. */
  readonly answerTimeoutMs: number;
  /** Told what of the models cannot be used, whenever a child has started. */
  readonly onFailures?: (failures: readonly ModelFailure[]) => void;
}

interface Job<Sentence> {
  readonly id: number;
  readonly sentence: Sentence;
  readonly audio: SpokenAudio;
  readonly onWords: (ends: WordEnds) => void;
  hasSound: boolean;
  isSecondTry: boolean;
  /** Ends the wait for its next piece. */
  calm: () => void;
}

export class SpeakingProcess<Sentence extends SpokenSentence> {
  readonly #clock: Clock;
  readonly #answerTimeoutMs: number;
  readonly #keeper: SpeakingChildKeeper<Sentence>;
  readonly #onFailures: (failures: readonly ModelFailure[]) => void;
  readonly #jobs = new Map<number, Job<Sentence>>();
  #heardAtMs = 0;
  #nextId = 1;

  constructor({ child, clock, logger, answerTimeoutMs, onFailures }: SpeakingOptions) {
    this.#onFailures = onFailures ?? (() => undefined);
    this.#clock = clock;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#keeper = new SpeakingChildKeeper({
      child,
      clock,
      logger,
      onReply: (message) => this.#take(message),
      onRenewed: () => this.#sendAgain(),
    });
  }

  /** Sentences asked for and not yet ended. */
  get load(): number {
    return this.#jobs.size;
  }

  /** @throws {SynthesisError} when the engine cannot speak, or did not say so in time. */
  start(): Promise<void> {
    return this.#keeper.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#keeper.stop();
    for (const job of this.#jobs.values()) {
      this.#end(job, new SynthesisError('Cannot speak: the synthesizer has stopped'));
    }
    await stopped;
  }

  speak(
    sentence: Sentence,
    onWords: (ends: WordEnds) => void = () => undefined,
  ): { readonly audio: SpokenAudio; cancel(): void } {
    const audio = new SpokenAudio();
    if (this.#keeper.isStopped) {
      audio.end(new SynthesisError('Cannot speak: the synthesizer is not started'));
      return { audio, cancel: () => undefined };
    }
    const id = this.#nextId++;
    const calm = () => undefined;
    const job = { id, sentence, audio, onWords, hasSound: false, isSecondTry: false, calm };
    this.#jobs.set(id, job);
    this.#wait(job);
    this.#keeper.send({ kind: 'speak', id, sentence });
    return { audio, cancel: () => this.#cancel(job) };
  }

  warm(voice: Sentence['voice']): void {
    this.#keeper.send({ kind: 'warm', voice });
  }

  #cancel(job: Job<Sentence>): void {
    if (this.#jobs.has(job.id)) {
      this.#keeper.send({ kind: 'cancel', id: job.id });
      this.#end(job, null);
    }
  }

  #take(message: SpeakingReply): void {
    this.#heardAtMs = this.#clock.nowMs();
    if (message.kind === 'ready') this.#onFailures(message.failures ?? []);
    const job = 'id' in message ? this.#jobs.get(message.id) : undefined;
    if (job === undefined) {
      return;
    }
    if (message.kind === 'audio') {
      job.hasSound = true;
      job.audio.push(message.pcm);
      this.#wait(job);
    } else if (message.kind === 'words') {
      job.onWords(message.ends);
    } else if (message.kind === 'ended') {
      this.#end(job, null);
    } else if (message.kind === 'failed') {
      this.#fail(job, message.reason);
    }
  }

  #wait(job: Job<Sentence>): void {
    job.calm();
    const timeoutMs = this.#answerTimeoutMs;
    job.calm = this.#clock.after(timeoutMs, () => {
      this.#keeper.send({ kind: 'cancel', id: job.id });
      this.#fail(job, `no sound for ${timeoutMs} ms`);
      // A child that has not spoken to anybody for so long is stuck itself.
      if (this.#clock.nowMs() - this.#heardAtMs >= timeoutMs) {
        this.#keeper.kill();
      }
    });
  }

  #fail(job: Job<Sentence>, reason: string): void {
    const voice = job.sentence.voice.name;
    this.#end(job, new SynthesisError(`Cannot speak with the voice "${voice}": ${reason}`));
  }

  #end(job: Job<Sentence>, error: SynthesisError | null): void {
    job.calm();
    this.#jobs.delete(job.id);
    job.audio.end(error);
  }

  /** What has not begun to sound is spoken by the next child; the rest would be heard twice. */
  #sendAgain(): void {
    for (const job of [...this.#jobs.values()]) {
      if (job.hasSound || job.isSecondTry) {
        this.#fail(job, 'its process ended');
      } else {
        job.isSecondTry = true;
        this.#keeper.send({ kind: 'speak', id: job.id, sentence: job.sentence });
      }
    }
  }
}

/** Filled from one side, read from the other, by one reader. Its length is bounded by the child. */
class SpokenAudio {
  readonly #chunks: Int16Array[] = [];
  #end: { readonly error: Error | null } | undefined;
  #wake: () => void = () => undefined;

  push(pcm: Int16Array): void {
    if (this.#end === undefined) {
      this.#chunks.push(pcm);
      this.#wake();
    }
  }

  /** Ends it: after the chunks still waiting, or at once with an error. The first end counts. */
  end(error: Error | null): void {
    if (this.#end !== undefined) {
      return;
    }
    this.#end = { error };
    if (error !== null) {
      this.#chunks.length = 0;
    }
    this.#wake();
  }

  /** @returns null at the end. @throws what it was ended with. */
  async next(): Promise<Int16Array | null> {
    while (this.#chunks.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    if (chunk === undefined && this.#end?.error) {
      throw this.#end.error;
    }
    return chunk ?? null;
  }
}
