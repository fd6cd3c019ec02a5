/** The driver program of a client library: one JSON command a line, one JSON answer a line. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface DriverError {
  /** Name of the error's class, without `Error` or `Exception`. */
  readonly kind: string;
  readonly message: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Of a webhook that is refused. */
  readonly reason: string | null;
}

export type DriverAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: DriverError };

/** One call of a method. */
export interface Invocation {
  /** `resource.verb`. */
  readonly operation: string;
  readonly path?: readonly (string | number)[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly options?: Readonly<{
    timeoutSeconds?: number;
    maxRetries?: number;
    idempotencyKey?: string;
    ifMatch?: string;
  }>;
}

export type Command =
  | {
      readonly do: 'open';
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly timeoutSeconds?: number;
      readonly maxRetries?: number;
      readonly maxRetryAfterSeconds?: number;
      readonly maxResponseBytes?: number;
      readonly flavour?: string;
    }
  | ({ readonly do: 'call' } & Invocation)
  | ({ readonly do: 'list'; readonly max: number } & Invocation)
  | ({ readonly do: 'stream'; readonly count: number } & Invocation)
  | {
      readonly do: 'verify';
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly secret: string | readonly string[];
      readonly now: number;
    };

/** Longest time for one command. */
const ANSWER_MS_MAX = 60_000;
const END_MS_MAX = 5_000;

/** A running driver. Commands run one after the other. */
export class Driver {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited: Promise<void>;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  /** @param words Program and arguments. */
  constructor(words: readonly string[], cwd: string) {
    const [program = '', ...args] = words;
    this.#child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#exited = new Promise((resolve) => this.#child.on('close', () => resolve()));
    this.#child.on('error', (error) => {
      this.#errors += String(error);
    });
    // A driver that has ended takes no commands; `#errors` says why.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-20_000);
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** @throws {Error} when the driver ends, or takes longer than a minute, with what it printed. */
  async do(command: Command): Promise<DriverAnswer> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), ANSWER_MS_MAX);
    const line = await this.#lines.next();
    clearTimeout(timer);
    if (line.done !== true) return JSON.parse(line.value) as DriverAnswer;
    await this.#exited;
    const what = 'operation' in command ? command.operation : command.do;
    throw new Error(`The driver has not answered "${what}"; it printed:\n${this.#errors}`);
  }

  /** What a command gives. @throws {Error} when it gives an error. */
  async value(command: Command): Promise<unknown> {
    const answer = await this.do(command);
    if (answer.ok) return answer.value;
    const what = 'operation' in command ? command.operation : command.do;
    throw new Error(`"${what}" failed: ${JSON.stringify(answer.error)}`);
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS_MAX);
    await this.#exited;
    clearTimeout(timer);
  }
}
