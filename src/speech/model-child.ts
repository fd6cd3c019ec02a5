/** A model's child process as its parent holds it: messages in and out, and its end. */
import { fork } from 'node:child_process';
import type { LoadOutcome } from './load-outcome.ts';

/** Comes first, once: load the first of these models that can be loaded. */
export interface LoadOrder {
  readonly kind: 'load';
  readonly moduleUrl: string;
  readonly models: readonly string[];
  /** For models that another module opens, which one. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Threads of computing; default 1. */
  readonly threads?: number | undefined;
}

/** Let go of the model and end. */
export interface StopOrder {
  readonly kind: 'stop';
}

/** The answer to `LoadOrder`. */
export interface Loaded {
  readonly kind: 'loaded';
  readonly outcome: LoadOutcome;
}

/** One child. After `onExit` rang it is gone for good. */
export interface ModelChild<ToChild, FromChild> {
  send(message: ToChild | LoadOrder | StopOrder): void;
  onMessage(listener: (message: FromChild | Loaded) => void): void;
  /** Rings once; `how` is such as `signal SIGKILL` or `exit code 1`. */
  onExit(listener: (how: string) => void): void;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a child; it loads nothing before the message `load`. */
export function forkModelChild<ToChild extends object, FromChild>(
  file: URL,
): ModelChild<ToChild, FromChild> {
  const child = fork(file, {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // A write to a child that has just died fails here; `exit` tells the rest.
  child.on('error', () => undefined);
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => undefined);
    },
    onMessage: (listener) => child.on('message', (message) => listener(message as FromChild)),
    onExit: (listener) =>
      child.once('exit', (code, signal) =>
        listener(signal === null ? `exit code ${code}` : `signal ${signal}`),
      ),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Tells the answer to `LoadOrder` from all else that a child says. */
export function isLoaded(message: unknown): message is Loaded {
  return (message as Loaded).kind === 'loaded';
}
