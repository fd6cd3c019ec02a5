/** The process with the weights as the server holds it. */
import { type Child, forkChild } from '../../lib/process/child.ts';
import type { FromLlama, ToLlama } from './llama-messages.ts';

export type LlamaProcess = Child<ToLlama, FromLlama>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkLlama(): LlamaProcess {
  return forkChild(new URL('./llama-child.ts', import.meta.url));
}
