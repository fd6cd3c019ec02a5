/** Supervises a child process: start with a time limit, restart with back-off, polite stop, replacement of a hung child, low priority. */
import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Clock } from '../clock.ts';

/** Time for a polite stop; then the child is killed. */
const STOP_MS_MAX = 1500;

/** A child that was ready for less than this is likely to die the same way again. */
const LIFE_MS_MIN = 10_000;

/** Back-off of restarts. The first restart after an early death is immediate. */
const RESTART_WAIT_MS_MIN = 500;
const RESTART_WAIT_MS_MAX = 30_000;

/** One child process as its parent sees it; `obeyParent` is the other side. */
export interface Child<ToChild, FromChild> {
  /** Sends a message; does nothing once the child has ended. */
  send(message: ToChild): void;
  onMessage(listener: (message: FromChild) => void): void;
  /** Called once; `how` is such as `signal SIGKILL` or `exit code 1`. */
  onExit(listener: (how: string) => void): void;
  /** Ends the child with SIGKILL. */
  kill(): void;
}

/** Forks `file`. @param args command-line arguments of the child. */
export function forkChild<ToChild extends object, FromChild>(
  file: URL,
  args: readonly string[] = [],
): Child<ToChild, FromChild> {
  const child = fork(file, [...args], {
    serialization: 'advanced',
    // The parent's flags, such as those of a test runner, are not meant for the child.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // A failed write to a dying child; `exit` follows.
  child.on('error', () => undefined);
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => undefined);
    },
    onMessage: (listener) => child.on('message', (message) => listener(message as FromChild)),
    onExit: (listener) => {
      // A child that could not be forked has no pid and no `exit`.
      if (child.pid === undefined) child.once('error', ({ message }) => listener(message));
      child.once('exit', (code, signal) =>
        listener(signal === null ? `exit code ${code}` : `signal ${signal}`),
      );
    },
    kill: () => child.kill('SIGKILL'),
  };
}

/** Report in a child's message on its start. */
type StartReport<Ready> =
  | { readonly isReady: true; readonly value: Ready }
  | { readonly isReady: false; readonly reason: string };

interface ChildSupervisorOptions<ToChild extends object, FromChild, Ready> {
  readonly fork: () => Child<ToChild, FromChild>;
  readonly clock: Clock;
  readonly startMsMax: number;
  /** Makes the first message to each child; none unless given. */
  readonly startMessage?: () => ToChild;
  /** Asks a child to end. */
  readonly stopMessage: ToChild;
  /** Reads a start report; null for every other message. */
  readonly startReportOf: (message: FromChild) => StartReport<Ready> | null;
  /** Called for every message that is no start report. */
  readonly onMessage: (message: FromChild) => void;
  /** Called when a child is ready, at the start and after each restart. */
  readonly onUp?: (value: Ready) => void;
  /** Called when a ready child has ended: fail its requests in flight, or ask the next child again. */
  readonly onDown: (how: string) => void;
  /** Whether a ready child that ends is replaced; default true. */
  readonly restarts?: boolean;
  /** Called when a restart failed; another one follows. */
  readonly onRestartFailed?: (error: Error) => void;
}

/** Keeps one child of its kind running from `start` to `stop`. */
export class ChildSupervisor<ToChild extends object, FromChild, Ready> {
  readonly #options: ChildSupervisorOptions<ToChild, FromChild, Ready>;
  #child: Child<ToChild, FromChild> | null = null;
  #isUp = false;
  #isStopped = true;
  /** Whether a child has been ready since `start`. */
  #isRestarting = false;
  #upSinceMs = 0;
  #restartWaitMs = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(options: ChildSupervisorOptions<ToChild, FromChild, Ready>) {
    this.#options = options;
  }

  /** Whether a child is ready. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /**
   * Starts a child. From the first ready child on, one that ends is replaced. May be called again after a failure.
   *
   * @throws {Error} with the child's reason, or when it ended or was not ready within `startMsMax`.
   */
  async start(): Promise<Ready> {
    this.#isStopped = false;
    try {
      return await this.#launch();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Sends a message to the child; it is lost where none is ready. */
  send(message: ToChild): void {
    if (this.#isUp) this.#child?.send(message);
  }

  /** Kills a child that hangs; a new one follows. */
  replace(): void {
    this.#child?.kill();
  }

  /** Ends the child: by message, by SIGKILL after 1.5 s. Safe to call twice. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#isRestarting = false;
    this.#isUp = false;
    this.#cancelTimer();
    const child = this.#child;
    if (child === null) return Promise.resolve();
    const { stopMessage, clock } = this.#options;
    return stopChild(child, { stop: stopMessage, clock });
  }

  /** Forks a child and waits until it is ready. */
  #launch(): Promise<Ready> {
    const { fork, clock, startMsMax, startMessage, startReportOf } = this.#options;
    const child = fork();
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<Ready>();
    const fail = (reason: string) => {
      reject(new Error(reason));
      child.kill();
    };
    this.#cancelTimer = clock.after(startMsMax, () => fail(`not ready after ${startMsMax} ms`));
    child.onMessage((message) => {
      const report = startReportOf(message);
      if (report === null) this.#options.onMessage(message);
      else if (!report.isReady) fail(report.reason);
      else if (this.#child === child && !this.#isStopped) {
        this.#up(report.value);
        resolve(report.value);
      }
    });
    child.onExit((how) => {
      reject(new Error(`its process ended with ${how}`));
      if (this.#child === child) this.#exited(how);
    });
    const message = startMessage?.();
    if (message !== undefined) child.send(message);
    return promise;
  }

  #up(value: Ready): void {
    this.#cancelTimer();
    this.#isUp = true;
    this.#isRestarting = true;
    this.#upSinceMs = this.#options.clock.nowMs();
    this.#options.onUp?.(value);
  }

  #exited(how: string): void {
    const { clock, onDown, restarts = true } = this.#options;
    const wasUp = this.#isUp;
    this.#child = null;
    this.#isUp = false;
    this.#cancelTimer();
    if (!this.#isRestarting) return;
    if (!restarts) {
      onDown(how);
      return;
    }
    const wasEarly = !wasUp || clock.nowMs() - this.#upSinceMs < LIFE_MS_MIN;
    const waitMs = wasEarly ? this.#restartWaitMs : 0;
    this.#restartWaitMs = wasEarly
      ? Math.min(RESTART_WAIT_MS_MAX, Math.max(RESTART_WAIT_MS_MIN, 2 * waitMs))
      : 0;
    if (wasUp) onDown(how);
    this.#cancelTimer = clock.after(waitMs, () => {
      this.#launch().catch((error) => this.#restartFailed(error));
    });
  }

  #restartFailed(error: Error): void {
    if (this.#isRestarting) this.#options.onRestartFailed?.(error);
  }
}

/** Ends a child: by the message, by SIGKILL after 1.5 s. Resolves when it has ended. */
function stopChild<ToChild>(
  child: Pick<Child<ToChild, unknown>, 'send' | 'onExit' | 'kill'>,
  { stop, clock }: { readonly stop: ToChild; readonly clock: Clock },
): Promise<void> {
  return new Promise((resolve) => {
    const cancelKill = clock.after(STOP_MS_MAX, () => child.kill());
    child.onExit(() => {
      cancelKill();
      resolve();
    });
    child.send(stop);
  });
}

/** The child's side: signals of a terminal or a service manager reach the whole group, but the parent decides when this process ends. */
export function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
}

/**
 * The child's side: passes on the parent's messages, ignores signals, and ends this process with its parent.
 *
 * @param release called before the process ends because the parent is gone.
 */
export function obeyParent<ToChild>(
  obey: (message: ToChild) => void,
  release: () => unknown = () => undefined,
): void {
  process.on('message', (message: ToChild) => obey(message));
  ignoreSignals();
  process.on('disconnect', () => void endProcess(release));
}

/** The child's side: releases its resources and ends this process. */
export async function endProcess(release: () => unknown): Promise<never> {
  try {
    await release();
  } finally {
    process.exit(0);
  }
}

/** The child's side: sends a message to the parent; lost where the parent is gone. */
export function tellParent(message: object): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

/** Niceness, as of `nice -n 10`. */
const PRIORITY = 10;

/** Lowers the priority of a process. Does nothing when the process has ended or the system does not allow it. */
export function setLowPriority(pid: number): void {
  try {
    setPriority(pid, PRIORITY);
  } catch {
    // The process keeps its normal priority.
  }
}
