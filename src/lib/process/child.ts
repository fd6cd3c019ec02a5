/** A child process of ours as its parent holds it: messages in and out, and its end. */
import { fork } from 'node:child_process';
import type { Clock } from '../clock.ts';

/** How long a child may take to let go of what it holds. */
const STOP_WAIT_MS = 1500;

/** One child. After `onExit` rang it is gone for good. */
export interface Child<ToChild, FromChild> {
  send(message: ToChild): void;
  onMessage(listener: (message: FromChild) => void): void;
  /** Rings once; `how` is such as `signal SIGKILL` or `exit code 1`. */
  onExit(listener: (how: string) => void): void;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a child that waits for messages; see `parent.ts` for its side. */
export function forkChild<ToChild extends object, FromChild>(file: URL): Child<ToChild, FromChild> {
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

/** Ends a child: by the message, by force after 1.5 s. Resolves when it is gone. */
export function stopChild<ToChild>(
  child: Pick<Child<ToChild, unknown>, 'send' | 'onExit' | 'kill'>,
  { stop, clock }: { readonly stop: ToChild; readonly clock: Clock },
): Promise<void> {
  return new Promise((resolve) => {
    const cancelKill = clock.after(STOP_WAIT_MS, () => child.kill());
    child.onExit(() => {
      cancelKill();
      resolve();
    });
    child.send(stop);
  });
}

/** Obeys the parent, and nobody else: the parent decides when this process ends, and it ends with its parent. */
export function obeyParent<ToChild>(obey: (message: ToChild) => void): void {
  process.on('message', (message: ToChild) => obey(message));
  // A terminal's Ctrl-C and a service manager's stop reach the whole group.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}

export function tellParent(message: object): void {
  // The parent may be gone already; then `disconnect` ends this process.
  process.send?.(message, () => undefined);
}
