/** A program of `examples/` in a process of its own, as its first comment says to start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Longest time until a program has printed what a test waits for. */
const PRINTED_MS_MAX = 60_000;

export class ExampleProgram {
  readonly #child: ChildProcess;
  #output = '';

  /** @param command words, the program first; `node` is the one that runs the tests */
  constructor([program = '', ...words]: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(program === 'node' ? process.execPath : program, words, {
      cwd: ROOT,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    }
    onTestFinished(() => this.stop());
  }

  get output(): string {
    return this.#output;
  }

  /** Resolves with the exit status, once all that it prints is in `output`. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  /** @throws {Error} with its output, when it does not print `text` in time. */
  async hasPrinted(text: string | RegExp): Promise<void> {
    const deadlineMs = performance.now() + PRINTED_MS_MAX;
    while (!new RegExp(text).test(this.#output)) {
      if (performance.now() > deadlineMs || this.#child.exitCode !== null) {
        throw new Error(`The example did not print "${text}" but:\n${this.#output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}
