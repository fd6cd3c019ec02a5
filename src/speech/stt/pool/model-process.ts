/** One model's supervised child process, and the messages that all model children share. */

import type { Clock } from '../../../lib/clock.ts';
import { type Child, ChildSupervisor, forkChild } from '../../../lib/process/child-supervisor.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/model-files.ts';

/** Large models take seconds from a cold disk. */
const LOAD_MS_MAX = 60_000;

/** First message to a model child: load the first usable of these models. */
export interface LoadOrder extends EngineOrder {
  readonly kind: 'load';
}

/** Asks a model child to release its model and to end. */
export interface StopOrder {
  readonly kind: 'stop';
}

/** The answer to `LoadOrder`. */
export interface Loaded {
  readonly kind: 'loaded';
  readonly outcome: LoadOutcome;
}

/** Writes a log line. Never with callers' words. */
export type Note = (fields: object, message: string) => void;

/** A child that speaks `ToChild` and `FromChild` besides `load`, `loaded` and `stop`. */
export type ModelChild<ToChild, FromChild> = Child<
  ToChild | LoadOrder | StopOrder,
  FromChild | Loaded
>;

/** Forks a model child; it loads nothing before the message `load`. */
export function forkModelChild<ToChild extends object, FromChild>(
  file: URL,
): ModelChild<ToChild, FromChild> {
  return forkChild(file);
}

export interface ModelProcessOptions<ToChild, FromChild> {
  readonly fork: () => ModelChild<ToChild, FromChild>;
  readonly clock: Clock;
  /** Job of the model in log lines, such as `Recogniser`. */
  readonly job: string;
  readonly note: Note;
  readonly loading: Omit<LoadOrder, 'kind' | 'models'>;
  readonly onUp?: () => void;
  /** Called when the process has ended, with all its state. */
  readonly onDown: (how: string) => void;
  readonly onMessage: (message: FromChild) => void;
}

export class ModelProcess<ToChild extends object, FromChild> {
  readonly #supervisor: ChildSupervisor<
    ToChild | LoadOrder | StopOrder,
    FromChild | Loaded,
    LoadOutcome
  >;
  #models: readonly string[] = [];
  /** Failures of the newest attempt, as the child reported them. */
  #failures: readonly string[] = [];

  constructor(options: ModelProcessOptions<ToChild, FromChild>) {
    const { job, note, loading, onDown } = options;
    this.#supervisor = new ChildSupervisor({
      ...{ fork: options.fork, clock: options.clock, startMsMax: LOAD_MS_MAX },
      startMessage: () => ({ kind: 'load', models: this.#models, ...loading }) as const,
      stopMessage: { kind: 'stop' },
      startReportOf: (message) => (isLoaded(message) ? this.#report(message) : null),
      onMessage: (message) => options.onMessage(message as FromChild),
      onUp: () => options.onUp?.(),
      onDown: (how) => {
        note({ how }, `${job} ended: starting another`);
        onDown(how);
      },
      onRestartFailed: ({ message: reason }) =>
        note({ reason }, `${job} could not be restarted: trying again`),
    });
  }

  get isUp(): boolean {
    return this.#supervisor.isUp;
  }

  /** Starts the process with the first usable model and keeps to that one. May be called again after a failure. */
  async start(models: readonly string[]): Promise<LoadOutcome> {
    this.#models = models;
    this.#failures = [];
    try {
      const outcome = await this.#supervisor.start();
      this.#models = outcome.model === null ? models : [outcome.model];
      return outcome;
    } catch (error) {
      const death = `Cannot load "${models.join('", "')}": ${messageOf(error)}`;
      return { model: null, failures: this.#failures.length > 0 ? this.#failures : [death] };
    }
  }

  /** Sends a message; it is lost while the process is down. */
  send(message: ToChild): void {
    this.#supervisor.send(message);
  }

  /** Kills a process that hangs; a new one follows. */
  replace(): void {
    this.#supervisor.replace();
  }

  /** Ends the process within 1.5 s. Safe to call twice. */
  stop(): Promise<void> {
    return this.#supervisor.stop();
  }

  #report({ outcome }: Loaded) {
    this.#failures = outcome.failures;
    return outcome.model === null
      ? ({ isReady: false, reason: outcome.failures.join('; ') } as const)
      : ({ isReady: true, value: outcome } as const);
  }
}

function isLoaded(message: unknown): message is Loaded {
  return (message as Loaded).kind === 'loaded';
}

/** The child's side: opens the first usable model, and says why the others failed. */
export async function openFirst<Model extends object>(
  models: readonly string[],
  open: (model: string) => Promise<Model & { readonly drawback?: string }>,
): Promise<{ readonly opened: Model | null; readonly outcome: LoadOutcome }> {
  const failures: string[] = [];
  for (const model of models) {
    try {
      const opened = await open(model);
      const { drawback } = opened;
      const outcome = { model, failures, ...(drawback !== undefined && { drawback }) };
      return { opened, outcome };
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  return { opened: null, outcome: { model: null, failures } };
}
