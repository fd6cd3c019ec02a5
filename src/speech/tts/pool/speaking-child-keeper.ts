/** Keeps one synthesizer child running: starts it, and restarts it with back-off. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import {
  type SpeakingReply,
  type SpeakingRequest,
  type SpokenSentence,
  SynthesisError,
} from './synthesizer.ts';

/** Until a child that was let go has ended; then it is killed. */
const STOP_TIMEOUT_MS = 1500;

/** A child that dies sooner after its start dies early; from the second time on, the next one waits. */
const EARLY_DEATH_MS = 10_000;

const RESTART_WAIT_MS_MAX = 10_000;

/** Which child to start, and with what. */
export interface SpeakingChild {
  readonly file: URL;
  /** Becomes the child's first argument, as JSON. */
  readonly order: object;
  /** What it speaks with, for messages. */
  readonly engine: string;
  /** Until the first child says that it can speak. */
  readonly startTimeoutMs: number;
}

export interface ChildKeeperOptions {
  readonly child: SpeakingChild;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onReply: (message: SpeakingReply) => void;
  /** A new child stands in for one that died; it knows nothing of what was asked before. */
  readonly onRenewed: () => void;
}

export class SpeakingChildKeeper<Sentence extends SpokenSentence> {
  readonly #options: ChildKeeperOptions;
  #child: ChildProcess | undefined;
  #startedAtMs = 0;
  #earlyDeaths = 0;
  #isStopped = true;
  #cancelRestart: () => void = () => undefined;
  #begun: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: ChildKeeperOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @throws {SynthesisError} when the engine cannot speak, or did not say so in time. */
  async start(): Promise<void> {
    this.#isStopped = false;
    this.#begun = Promise.withResolvers();
    this.#fork();
    const { startTimeoutMs } = this.#options.child;
    const calm = this.#options.clock.after(startTimeoutMs, () =>
      this.#begun.reject(this.#cannotStart(`no answer in ${startTimeoutMs} ms`)),
    );
    try {
      await this.#begun.promise;
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      calm();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRestart();
    const child = this.#child;
    if (child === undefined) {
      return;
    }
    const gone = Promise.withResolvers<void>();
    child.once('exit', () => gone.resolve());
    const calm = this.#options.clock.after(STOP_TIMEOUT_MS, () => child.kill('SIGKILL'));
    if (child.connected) {
      child.disconnect();
    }
    await gone.promise;
    calm();
  }

  /** With no child alive the message is lost; `onRenewed` tells when to send again. */
  send(message: SpeakingRequest<Sentence>): void {
    if (this.#child?.connected) {
      this.#child.send(message, () => undefined);
    }
  }

  /** For a child that no longer answers. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  #fork(): void {
    const { clock, logger } = this.#options;
    const { file, order } = this.#options.child;
    this.#startedAtMs = clock.nowMs();
    const child = fork(file, [JSON.stringify(order)], {
      serialization: 'advanced',
      // What Node or a test runner was started with is not meant for the child.
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.on('message', (message: SpeakingReply) => this.#take(message));
    child.once('exit', (exitCode, signal) => this.#childIsGone(child, signal ?? `${exitCode}`));
    child.on('error', (error) => {
      logger.warn({ err: error }, 'speaking child failed');
      if (child.pid === undefined) {
        this.#childIsGone(child, error.message);
      }
    });
  }

  #take(message: SpeakingReply): void {
    if (message.kind === 'ready') {
      this.#begun.resolve();
    } else if (message.kind === 'unready') {
      this.#begun.reject(this.#cannotStart(message.reason));
    }
    this.#options.onReply(message);
  }

  #childIsGone(child: ChildProcess, how: string): void {
    if (this.#child !== child) {
      return;
    }
    this.#child = undefined;
    this.#begun.reject(this.#cannotStart(`its process ended with ${how}`));
    if (this.#isStopped) {
      return;
    }
    const { clock, logger, onRenewed } = this.#options;
    logger.warn({ ended: how }, 'speaking child is gone');
    this.#cancelRestart = clock.after(this.#restartWaitMs(), () => {
      this.#fork();
      onRenewed();
    });
  }

  #restartWaitMs(): number {
    const isEarly = this.#options.clock.nowMs() - this.#startedAtMs < EARLY_DEATH_MS;
    this.#earlyDeaths = isEarly ? this.#earlyDeaths + 1 : 0;
    return this.#earlyDeaths < 2 ? 0 : Math.min(RESTART_WAIT_MS_MAX, 100 * 2 ** this.#earlyDeaths);
  }

  #cannotStart(reason: string): SynthesisError {
    return new SynthesisError(`Cannot start ${this.#options.child.engine}: ${reason}`);
  }
}
