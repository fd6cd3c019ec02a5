/** Gives sentences to one speaking child, and their audio to whoever asked. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { SynthesisError } from '../synthesizer.ts';
import type { EspeakVoice } from './espeak-voice.ts';
import { SpeakingChildKeeper } from './speaking-child-keeper.ts';
import type { Sentence, SpeakingOrder, SpeakingReply } from './speaking-messages.ts';
import { SpokenAudio } from './spoken-audio.ts';

export interface SpeakingOptions {
  readonly order: SpeakingOrder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest wait for the next piece of a sentence. */
  readonly answerTimeoutMs: number;
}

interface Job {
  readonly id: number;
  readonly sentence: Sentence;
  readonly audio: SpokenAudio;
  hasSound: boolean;
  isSecondTry: boolean;
  /** Ends the wait for its next piece. */
  calm: () => void;
}

export class SpeakingProcess {
  readonly #clock: Clock;
  readonly #answerTimeoutMs: number;
  readonly #keeper: SpeakingChildKeeper;
  readonly #jobs = new Map<number, Job>();
  #heardAtMs = 0;
  #nextId = 1;

  constructor({ order, clock, logger, answerTimeoutMs }: SpeakingOptions) {
    this.#clock = clock;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#keeper = new SpeakingChildKeeper({
      order,
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

  /** @throws {SynthesisError} when espeak-ng cannot speak, or did not say so in time. */
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

  speak(sentence: Sentence): { readonly audio: SpokenAudio; cancel(): void } {
    const audio = new SpokenAudio();
    if (this.#keeper.isStopped) {
      audio.end(new SynthesisError('Cannot speak: the synthesizer is not started'));
      return { audio, cancel: () => undefined };
    }
    const id = this.#nextId++;
    const calm = () => undefined;
    const job: Job = { id, sentence, audio, hasSound: false, isSecondTry: false, calm };
    this.#jobs.set(id, job);
    this.#wait(job);
    this.#keeper.send({ kind: 'speak', id, sentence });
    return { audio, cancel: () => this.#cancel(job) };
  }

  warm(voice: EspeakVoice): void {
    this.#keeper.send({ kind: 'warm', voice });
  }

  #cancel(job: Job): void {
    if (this.#jobs.has(job.id)) {
      this.#keeper.send({ kind: 'cancel', id: job.id });
      this.#end(job, null);
    }
  }

  #take(message: SpeakingReply): void {
    this.#heardAtMs = this.#clock.nowMs();
    const job = 'id' in message ? this.#jobs.get(message.id) : undefined;
    if (job === undefined) {
      return;
    }
    if (message.kind === 'audio') {
      job.hasSound = true;
      job.audio.push(message.pcm);
      this.#wait(job);
    } else if (message.kind === 'ended') {
      this.#end(job, null);
    } else if (message.kind === 'failed') {
      this.#fail(job, message.reason);
    }
  }

  #wait(job: Job): void {
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

  #fail(job: Job, reason: string): void {
    const voice = job.sentence.voice.name;
    this.#end(job, new SynthesisError(`Cannot speak with the voice "${voice}": ${reason}`));
  }

  #end(job: Job, error: SynthesisError | null): void {
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
