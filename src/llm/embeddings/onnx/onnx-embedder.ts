/** An embedding model in a child process of the server's own: no server to install, and no text leaves the machine. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, unlessAborted } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { type Child, ChildSupervisor, forkChild } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { LanguageModelError } from '../../language-model.ts';
import { type Embedder, rolePrefix, type TextRole } from '../embedder.ts';
import type { FromEmbeddingChild, ToEmbeddingChild } from './embedding-child.ts';

/** Folder of these models in the models folder. */
const KIND_FOLDER = 'embedding';

/** Large models take seconds from a cold disk. */
const LOAD_MS_MAX = 60_000;

/** A text of 512 tokens takes a second on a slow processor: a child that takes longer hangs. */
const TEXT_MS_MAX = 10_000;

/** Texts that wait: a batch of passages, and questions of many calls. */
const WAITING_MAX = 200;

/** The model's process. */
export type EmbeddingProcess = Child<ToEmbeddingChild, FromEmbeddingChild>;

interface Options {
  /** Folder `embedding/MODEL` of the models folder, or a path below it. */
  readonly model: string;
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes the process; our own child unless given. */
  readonly fork?: () => EmbeddingProcess;
}

interface Request {
  readonly text: string;
  readonly role: TextRole;
  readonly signal: AbortSignal;
  readonly answer: PromiseWithResolvers<Float32Array>;
}

/** Asks one text at a time; questions of calls go before passages. The first passage starts the process. */
export class OnnxEmbedder implements Embedder {
  readonly name: string;
  readonly #options: Options;
  readonly #process: ChildSupervisor<ToEmbeddingChild, FromEmbeddingChild, true>;
  readonly #waiting: Request[] = [];
  #running: { readonly id: number; readonly request: Request } | undefined;
  #lastId = 0;
  #folder = '';
  #starting: Promise<unknown> | undefined;
  /** After the first successful start, the supervisor restarts the process itself. */
  #hasStarted = false;
  #isStopped = false;
  #cancelWatch: () => void = () => undefined;

  constructor(options: Options) {
    this.name = `onnx/${options.model}`;
    this.#options = options;
    const { clock, fork = forkEmbeddings } = options;
    this.#process = new ChildSupervisor({
      ...{ fork, clock, startMsMax: LOAD_MS_MAX },
      startMessage: () => ({ kind: 'load', folder: this.#folder }) as const,
      stopMessage: { kind: 'stop' },
      startReportOf,
      onMessage: (message) => this.#answered(message),
      onUp: () => this.#next(),
      onDown: (how) => this.#down(how),
      onRestartFailed: ({ message: reason }) => {
        options.log.warn({ reason }, 'embedding process could not be restarted: trying again');
      },
    });
  }

  /** Undefined while the model answers, and before it was asked for the first time. */
  get problem(): string | undefined {
    return this.#hasStarted && !this.#process.isUp ? this.#failure(RESTARTS).message : undefined;
  }

  async embed(
    texts: readonly string[],
    { role, signal }: { readonly role: TextRole; readonly signal: AbortSignal },
  ): Promise<readonly Float32Array[]> {
    signal.throwIfAborted();
    if (!this.#process.isUp) await this.#ready(role, signal);
    if (this.#waiting.length + texts.length > WAITING_MAX) {
      throw this.#failure(`${this.#waiting.length} texts wait`);
    }
    const prefix = rolePrefix(this.#options.model, role);
    const requests = texts.map((text) => {
      const answer = Promise.withResolvers<Float32Array>();
      return { text: `${prefix}${text}`, role, signal, answer };
    });
    const answers = Promise.all(requests.map(({ answer }) => answer.promise));
    this.#waiting.push(...requests);
    this.#next();
    return unlessAborted(answers, signal);
  }

  /** Ends the process; the requests in progress fail. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#hasStarted = false;
    this.#fail('the server stops');
    await this.#process.stop();
  }

  /** A question never waits for the model to be loaded: its words count alone meanwhile. */
  async #ready(role: TextRole, signal: AbortSignal): Promise<void> {
    if (this.#isStopped) throw this.#failure('the server stops');
    if (this.#hasStarted) throw this.#failure(RESTARTS);
    if (role === 'query') throw this.#failure('it is not loaded yet');
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await unlessAborted(this.#starting, signal);
  }

  async #start(): Promise<void> {
    const { model, modelsDir } = this.#options;
    const places = [join(modelsDir, KIND_FOLDER, model), join(modelsDir, model)];
    const folder = places.find((place) => existsSync(join(place, 'config.json')));
    const remedy = `"npm run models -- --only ${model}" downloads a model of the list`;
    if (folder === undefined) throw this.#failure(`no model in "${places[0]}" (${remedy})`);
    this.#folder = folder;
    try {
      await this.#process.start();
      this.#hasStarted = !this.#isStopped;
    } catch (error) {
      throw this.#failure(`${messageOf(error)} (${remedy})`);
    }
  }

  #next(): void {
    if (this.#running !== undefined || !this.#process.isUp) return;
    const request = this.#taken();
    if (request === undefined) return;
    this.#lastId += 1;
    this.#running = { id: this.#lastId, request };
    this.#cancelWatch = this.#options.clock.after(TEXT_MS_MAX, () => this.#process.replace());
    this.#process.send({ kind: 'embed', request: this.#lastId, text: request.text });
  }

  /** Takes the next request that is still wanted: the oldest question, else the oldest passage. */
  #taken(): Request | undefined {
    const wanted = this.#waiting.filter(({ signal }) => !signal.aborted);
    const next = wanted.find(({ role }) => role === 'query') ?? wanted[0];
    const left = wanted.filter((request) => request !== next);
    this.#waiting.splice(0, this.#waiting.length, ...left);
    return next;
  }

  #answered(message: FromEmbeddingChild): void {
    const running = this.#running;
    if (running === undefined || !('request' in message) || message.request !== running.id) return;
    this.#cancelWatch();
    this.#running = undefined;
    const { answer } = running.request;
    // A copy: the received array is a view of the whole message.
    if (message.kind === 'vector') answer.resolve(Float32Array.from(message.vector));
    else answer.reject(this.#failure(message.reason));
    this.#next();
  }

  #down(how: string): void {
    this.#options.log.warn({ how }, 'embedding process ended: starting another');
    this.#fail(`its process ended with ${how}`);
  }

  #fail(reason: string): void {
    this.#cancelWatch();
    const failed = [...(this.#running ? [this.#running.request] : []), ...this.#waiting.splice(0)];
    this.#running = undefined;
    for (const { answer } of failed) answer.reject(this.#failure(reason));
  }

  #failure(reason: string): LanguageModelError {
    return new LanguageModelError(`Cannot use "${this.name}": ${reason}`);
  }
}

const RESTARTS = 'its process is being started again';

function forkEmbeddings(): EmbeddingProcess {
  return forkChild(new URL('./embedding-child.ts', import.meta.url));
}

function startReportOf(message: FromEmbeddingChild) {
  if (message.kind === 'loaded') return { isReady: true, value: true } as const;
  if (message.kind === 'unloadable') return { isReady: false, reason: message.reason } as const;
  return null;
}
