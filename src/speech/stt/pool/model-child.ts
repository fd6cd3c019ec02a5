/** What a model's child process is told, and answers, whatever the model does. */
import { type Child, forkChild } from '../../../lib/process/child.ts';
import type { LoadOutcome } from '../../models/load-outcome.ts';

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

export type ModelChild<ToChild, FromChild> = Child<
  ToChild | LoadOrder | StopOrder,
  FromChild | Loaded
>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkModelChild<ToChild extends object, FromChild>(
  file: URL,
): ModelChild<ToChild, FromChild> {
  return forkChild(file);
}

/** Tells the answer to `LoadOrder` from all else that a child says. */
export function isLoaded(message: unknown): message is Loaded {
  return (message as Loaded).kind === 'loaded';
}
