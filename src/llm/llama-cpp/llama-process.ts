/** The process with the weights as the server holds it: messages in and out, and its end. */
import { fork } from 'node:child_process';
import type { FromLlama, ToLlama } from './llama-messages.ts';

/** One child. After `onExit` rang it is gone for good. */
export interface LlamaProcess {
  send(message: ToLlama): void;
  onMessage(listener: (message: FromLlama) => void): void;
  /** Rings once; `how` is such as `signal SIGKILL` or `exit code 1`. */
  onExit(listener: (how: string) => void): void;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a child; it loads nothing before the message `load`. */
export function forkLlama(): LlamaProcess {
  const child = fork(new URL('./llama-child.ts', import.meta.url), {
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
    onMessage: (listener) => child.on('message', (message) => listener(message as FromLlama)),
    onExit: (listener) =>
      child.once('exit', (code, signal) =>
        listener(signal === null ? `exit code ${code}` : `signal ${signal}`),
      ),
    kill: () => child.kill('SIGKILL'),
  };
}
