/** The synthesizer pool: the child processes of one engine; each sentence goes to the least busy one. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { ChildSupervisor, forkChild } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { SynthesisError, type WordEnds } from './synthesizer.ts';

interface ProcessOptions {
  readonly child: {
    /** Module that the child runs. */
    readonly file: URL;
    /** First argument of the child, as JSON. */
    readonly order: object;
    /** Name of the engine in messages. */
    readonly engine: string;
    /** Time limit for the child's report that it can speak. */
    readonly startTimeoutMs: number;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest wait for the next audio of a sentence. */
  readonly answerTimeoutMs: number;
  /** Receives the unusable models, after each start of a child. */
  readonly onFailures?: (failures: readonly ModelFailure[]) => void;
}

export interface SynthesizerPoolOptions extends ProcessOptions {
  /** Number of child processes, at least one. */
  readonly count: number;
  /** Most sentences in progress, over all calls; more are refused. */
  readonly sentencesMax: number;
}

export class SynthesizerPool<Sentence extends SpokenSentence> {
  readonly #sentencesMax: number;
  readonly #processes: readonly SynthesizerProcess<Sentence>[];

  constructor({ count, sentencesMax, ...options }: SynthesizerPoolOptions) {
    this.#sentencesMax = sentencesMax;
    this.#processes = Array.from({ length: count }, () => new SynthesizerProcess(options));
  }

  /** @throws {SynthesisError} when one process cannot speak; then none runs. */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#processes.map((process) => process.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
  }

  /**
   * Synthesizes a sentence; leaving the loop cancels it.
   *
   * @throws {SynthesisError} when too many sentences are waiting, or the child fails.
   * @throws the signal's reason.
   */
  async *speak(
    sentence: Sentence,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly onWords?: ((ends: WordEnds) => void) | undefined;
    } = {},
  ): AsyncGenerator<Int16Array> {
    const { signal, onWords } = options;
    const { audio, cancel } = this.#leastBusy().speak(sentence, onWords);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      for await (const pcm of audio) {
        signal?.throwIfAborted();
        yield pcm;
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', cancel);
      cancel();
    }
  }

  #leastBusy(): SynthesizerProcess<Sentence> {
    const total = this.#processes.reduce((sum, process) => sum + process.load, 0);
    const [first, ...others] = this.#processes;
    if (first === undefined || total >= this.#sentencesMax) {
      throw new SynthesisError(`Cannot speak: ${total} sentences are waiting to be spoken`);
    }
    return others.reduce((least, other) => (other.load < least.load ? other : least), first);
  }
}

interface Job<Sentence> {
  readonly id: number;
  readonly sentence: Sentence;
  /** Writes the sentence's audio. The child bounds its length. */
  readonly audio: ReadableStreamDefaultController<Int16Array>;
  readonly onWords: (ends: WordEnds) => void;
  hasSound: boolean;
  isSecondTry: boolean;
  cancelTimeout: () => void;
}

/** One supervised child process and its sentences. */
class SynthesizerProcess<Sentence extends SpokenSentence> {
  readonly #options: ProcessOptions;
  readonly #supervisor: ChildSupervisor<
    SpeakingRequest<Sentence>,
    SpeakingReply,
    readonly ModelFailure[]
  >;
  readonly #jobs = new Map<number, Job<Sentence>>();
  #isStopped = true;
  #lastReplyAtMs = 0;
  #nextId = 1;

  constructor(options: ProcessOptions) {
    const { child, clock, logger } = options;
    this.#options = options;
    this.#supervisor = new ChildSupervisor({
      fork: () => forkChild(child.file, [JSON.stringify(child.order)]),
      ...{ clock, startMsMax: child.startTimeoutMs, stopMessage: { kind: 'stop' } },
      startReportOf: (message) => {
        if (message.kind === 'ready') return { isReady: true, value: message.failures ?? [] };
        return message.kind === 'unready' ? { isReady: false, reason: message.reason } : null;
      },
      onMessage: (message) => this.#take(message),
      onUp: (failures) => this.#up(failures),
      onDown: (how) => {
        logger.warn({ ended: how }, 'synthesizer process ended: starting another');
        this.#down();
      },
      onRestartFailed: (err) => logger.warn({ err }, 'synthesizer process could not be restarted'),
    });
  }

  /** Number of sentences in progress. */
  get load(): number {
    return this.#jobs.size;
  }

  /** @throws {SynthesisError} when the engine cannot speak, or did not report in time. */
  async start(): Promise<void> {
    try {
      this.#isStopped = false;
      await this.#supervisor.start();
    } catch (error) {
      this.#isStopped = true;
      const { engine } = this.#options.child;
      throw new SynthesisError(`Cannot start ${engine}: ${messageOf(error)}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const stopped = this.#supervisor.stop();
    for (const job of this.#jobs.values()) {
      this.#end(job, new SynthesisError('Cannot speak: the synthesizer has stopped'));
    }
    await stopped;
  }

  speak(
    sentence: Sentence,
    onWords: (ends: WordEnds) => void = () => undefined,
  ): { readonly audio: ReadableStream<Int16Array>; cancel(): void } {
    if (this.#isStopped) {
      throw new SynthesisError('Cannot speak: the synthesizer is not started');
    }
    const id = this.#nextId++;
    const start = (audio: Job<Sentence>['audio']) => {
      const flags = { hasSound: false, isSecondTry: false, cancelTimeout: () => undefined };
      const job = { id, sentence, audio, onWords, ...flags };
      this.#jobs.set(id, job);
      this.#wait(job);
    };
    const audio = new ReadableStream<Int16Array>({ start, cancel: () => void this.#cancel(id) });
    this.#supervisor.send({ kind: 'speak', id, sentence });
    return { audio, cancel: () => this.#cancel(id)?.audio.close() };
  }

  /** Cancels a sentence; undefined where it is over. */
  #cancel(id: number): Job<Sentence> | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    this.#supervisor.send({ kind: 'cancel', id });
    job.cancelTimeout();
    this.#jobs.delete(id);
    return job;
  }

  #take(message: SpeakingReply): void {
    this.#lastReplyAtMs = this.#options.clock.nowMs();
    const job = 'id' in message ? this.#jobs.get(message.id) : undefined;
    if (job === undefined) {
      return;
    }
    if (message.kind === 'audio') {
      job.hasSound = true;
      job.audio.enqueue(message.pcm);
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
    job.cancelTimeout();
    const { clock, answerTimeoutMs } = this.#options;
    job.cancelTimeout = clock.after(answerTimeoutMs, () => {
      this.#supervisor.send({ kind: 'cancel', id: job.id });
      this.#fail(job, `no sound for ${answerTimeoutMs} ms`);
      // A ready child without an answer within the time limit hangs.
      const isHung = clock.nowMs() - this.#lastReplyAtMs >= answerTimeoutMs;
      if (isHung && this.#supervisor.isUp) this.#supervisor.replace();
    });
  }

  /** Sends the sentences that came before the child was ready, or that the last child left. */
  #up(failures: readonly ModelFailure[]): void {
    this.#lastReplyAtMs = this.#options.clock.nowMs();
    this.#options.onFailures?.(failures);
    for (const { id, sentence } of this.#jobs.values()) {
      this.#supervisor.send({ kind: 'speak', id, sentence });
    }
  }

  /** A sentence without sound gets one more try; a retry of the others would be heard twice. */
  #down(): void {
    for (const job of [...this.#jobs.values()]) {
      if (job.hasSound || job.isSecondTry) this.#fail(job, 'its process ended');
      else job.isSecondTry = true;
    }
  }

  #fail(job: Job<Sentence>, reason: string): void {
    const voice = job.sentence.voice.name;
    this.#end(job, new SynthesisError(`Cannot speak with the voice "${voice}": ${reason}`));
  }

  #end(job: Job<Sentence>, error: SynthesisError | null): void {
    job.cancelTimeout();
    this.#jobs.delete(job.id);
    if (error === null) job.audio.close();
    else job.audio.error(error);
  }
}

/** One text for one voice. Each engine's own says more of the voice. */
export interface SpokenSentence {
  /** Already cleaned by `spokenText`; never empty. */
  readonly text: string;
  readonly voice: { readonly name: string };
  /** Silence to leave at the end. */
  readonly pauseAfterMs: number;
}

/** From the server to the child. */
export type SpeakingRequest<Sentence extends SpokenSentence> =
  | { readonly kind: 'speak'; readonly id: number; readonly sentence: Sentence }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Ends the child. */
  | { readonly kind: 'stop' };

/** A model that cannot be used, and why. */
export interface ModelFailure {
  readonly model: string;
  readonly reason: string;
}

/** From the child to the server. */
export type SpeakingReply =
  /** `failures`: models that cannot be used, and why. */
  | { readonly kind: 'ready'; readonly failures?: readonly ModelFailure[] }
  /** The engine cannot speak at all; the child ends. */
  | { readonly kind: 'unready'; readonly reason: string }
  /** PCM: 8 kHz, mono, signed 16-bit. */
  | { readonly kind: 'audio'; readonly id: number; readonly pcm: Int16Array }
  /** When the words of the sentence end, as shares of its audio. */
  | { readonly kind: 'words'; readonly id: number; readonly ends: readonly number[] }
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };
