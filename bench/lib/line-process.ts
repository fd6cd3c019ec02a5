/** A child process that talks in lines. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

const END_MS_MAX = 8000;

export class LineProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #exited: Promise<unknown>;

  /** @param environment is added to this process's own. */
  constructor([program, ...args]: Command, environment: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...env, ...environment },
    });
    this.#exited = once(this.#child, 'exit');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** The rest of the next line that begins with `word`; lines before it, such as a log's, are shown. */
  async next(word: string): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) {
        throw new Error(
          `Cannot run "${this.#child.spawnargs.join(' ')}": it ended before "${word}"`,
        );
      }
      if (value.startsWith(word)) return value.slice(word.length).trim();
      console.error(value);
    }
  }

  /** Closes its input, which tells it to end, and waits until it has. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), END_MS_MAX);
    await this.#exited;
    clearTimeout(limit);
  }
}
