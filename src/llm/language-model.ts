/** Port of language models (LLM): messages in, a stream of text and tool calls out. */

/** An answer on the telephone is short; a model that rambles is cut. */
export const ANSWER_TOKENS_MAX = 400;

/** A call of a tool, as the model asks for it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Empty where they were no JSON object. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether the arguments were no JSON object: the tool is not run, and the model is told. */
  readonly isMalformed?: boolean;
}

/** One message of a conversation with a model. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly name: string;
      readonly content: string;
    };

/** A tool as the model sees it. `parameters` is a JSON Schema object. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A piece of an answer: text, or the call of a tool. */
export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool-call'; readonly call: ToolCall };

/** One request to a model. */
export interface ModelRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
  /** JSON Schema that the whole answer must follow. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Whether the answer is to be read out of the messages, so that fixed rules have none. */
  readonly needsReading?: boolean;
  /** Aborting it closes the connection to the server at once. */
  readonly signal: AbortSignal;
  /** Called with the length of the prompt, by models that count it. */
  readonly onUsage?: (usage: ModelUsage) => void;
}

/** Size of a prompt, as the engine counts it. */
export interface ModelUsage {
  /** In the model's own tokens; of some servers only the part that was not in their cache. */
  readonly promptTokens: number;
}

/** The model did not answer, or answered rubbish; the server's own words are in `cause`. */
export class LanguageModelError extends Error {
  override readonly name = 'LanguageModelError';
  /** Whether this one request was refused, such as a schema that the server does not know: others may be answered. */
  readonly isOfRequest: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isOfRequest?: boolean } = {}) {
    super(message, options);
    this.isOfRequest = options.isOfRequest === true;
  }
}

/** A language model. */
export interface LanguageModel {
  /** Name, such as `ollama/qwen3:4b`. */
  readonly name: string;

  /** True for models that ignore prompts because fixed rules answer. */
  readonly ignoresPrompts?: boolean | undefined;

  /** How many tokens prompt and answer may have together; undefined where that is no matter. */
  readonly contextTokens?: number | undefined;

  /**
   * Answers, piece by piece.
   *
   * @throws {LanguageModelError}
   * @throws the signal's reason when aborted.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;

  /**
   * Reads the common beginning of a call's requests in advance, so that the first answer is faster. Yields no answer.
   *
   * @returns whether a model has read it: false for a wrapper around a model that cannot.
   * @throws as `stream`.
   */
  warm?(prefix: ModelRequest): Promise<boolean>;

  /**
   * Checks whether the model is available; takes 2 s at most.
   *
   * @throws {LanguageModelError} saying what is missing and what to do.
   */
  check(): Promise<void>;

  /** Releases resources outside this process. Safe to call twice. */
  stop?(): Promise<void>;
}

/** A server with several models, one of which is used. */
export interface ModelServer extends LanguageModel {
  /**
   * Names of all its models, asked for within 2 s.
   *
   * @throws {LanguageModelError} when it does not answer.
   */
  modelNames(): Promise<readonly string[]>;

  /** The same server with another of its models. Whether it has that is not asked. */
  withModel(name: string): LanguageModel;
}
