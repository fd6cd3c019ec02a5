/** What the server and the process that holds the weights tell each other. */
import type { ChatMessage, ModelEvent, ToolDescription } from '../language-model.ts';

/** What is loaded, and with how much room. */
export interface LlamaOrder {
  /** Where `node-llama-cpp` is installed. */
  readonly folder: string;
  /** Path of the GGUF file. */
  readonly file: string;
  /** For each of the calls; never more than the model has learned. */
  readonly contextTokens: number;
  /** Answers that are written at the same time, each with a memory of its own. */
  readonly sequences: number;
}

/** A request as it travels. */
export interface LlamaQuestion {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
  readonly schema?: Readonly<Record<string, unknown>>;
}

export type ToLlama =
  /** Comes first, once. */
  | { readonly kind: 'load'; readonly order: LlamaOrder }
  | { readonly kind: 'ask' | 'warm'; readonly id: number; readonly question: LlamaQuestion }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'stop' };

export type FromLlama =
  | { readonly kind: 'loaded'; readonly contextTokens: number }
  | { readonly kind: 'not-loaded'; readonly reason: string }
  | { readonly kind: 'event'; readonly id: number; readonly event: ModelEvent }
  /** The last of a question. @param promptTokens of the whole prompt. */
  | { readonly kind: 'done'; readonly id: number; readonly promptTokens: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };
