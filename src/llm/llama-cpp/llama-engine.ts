/** llama.cpp engine in the child process: loads weights, shares context slots, generates answers. */
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  type ModelEvent,
  type ToolCall,
  type ToolDescription,
} from '../language-model.ts';
import type { LlamaOrder, LlamaQuestion } from './llama-keeper.ts';
import { installCommand, isLlamaInstalled, llamaModuleFile } from './llama-program.ts';

/** Tokens of a prompt that are read in one batch: between two batches aborts take effect and other calls run. */
const BATCH_TOKENS = 256;

const TEMPERATURE = 0.3;

/** Cached grammars. Schemas are few: the one of the analysis, and perhaps a newer one. */
const GRAMMARS_MAX = 8;

interface Asked {
  readonly question: LlamaQuestion;
  readonly signal: AbortSignal;
}

/** llama.cpp in this process: one model, several sequences. */
export class LlamaEngine {
  /** Tokens that prompt and answer of one call may have together. */
  readonly contextTokens: number;
  readonly #llama: Llama;
  readonly #slots: LlamaSlots<LlamaChat>;
  readonly #grammars = new Map<string, Promise<object>>();
  #calls = 0;

  private constructor(llama: Llama, chats: readonly LlamaChat[], contextTokens: number) {
    this.#llama = llama;
    this.#slots = new LlamaSlots(chats);
    this.contextTokens = contextTokens;
  }

  /** @throws {Error} saying what is missing, or why the library cannot load the file. */
  static async open(order: LlamaOrder): Promise<LlamaEngine> {
    const { getLlama, LlamaChat } = await importLlama(order.folder);
    // Nothing is built or downloaded: a server starts with the installed binaries.
    const prebuilt = { build: 'never', skipDownload: true, progressLogs: false };
    const llama = await getLlama({ ...prebuilt, logLevel: 'error', logger: () => undefined });
    const weights = await llama.loadModel({ modelPath: order.file });
    const contextSize = Math.min(order.contextTokens, weights.trainContextSize);
    const { sequences } = order;
    const context = await weights.createContext({
      ...{ sequences, contextSize, batchSize: BATCH_TOKENS, threads: threadCount() },
      // On a processor it is quicker at long prompts, which are read ahead, and slower at the few tokens of a question.
      flashAttention: false,
    });
    const chats = Array.from(
      { length: sequences },
      () => new LlamaChat({ contextSequence: context.getSequence() }),
    );
    return new LlamaEngine(llama, chats, contextSize);
  }

  /**
   * Answers, piece by piece.
   *
   * @returns how many tokens the prompt had.
   * @throws the signal's reason when aborted before the first piece; errors of the library.
   */
  async answer(asked: Asked, onEvent: (event: ModelEvent) => void): Promise<number> {
    const { question, signal } = asked;
    const slot = await this.#slots.take(keysOf(question), signal);
    const { tokenMeter } = slot.seat.sequence;
    const writtenBefore = tokenMeter.usedOutputTokens;
    try {
      const answer = await slot.seat.generateResponse(toChatItems(question.messages), {
        ...(await this.#form(question)),
        signal,
        stopOnAbortSignal: true,
        maxTokens: ANSWER_TOKENS_MAX,
        temperature: TEMPERATURE,
        // A caller does not wait for thoughts.
        budgets: { thoughtTokens: 0 },
        // Pieces that may begin a tool call come without text.
        onTextChunk: (text: string) => {
          if (text !== '') onEvent({ kind: 'text', text });
        },
      });
      for (const { functionName: name, params } of answer.functionCalls ?? []) {
        this.#calls += 1;
        const args = (params ?? {}) as Record<string, unknown>;
        onEvent({ kind: 'tool-call', call: { id: `call_${this.#calls}`, name, arguments: args } });
      }
      const written = tokenMeter.usedOutputTokens - writtenBefore;
      return slot.seat.sequence.contextTokens.length - written;
    } finally {
      this.#slots.release(slot);
    }
  }

  /** Reads a prompt into a free slot, if there is one; yields no answer. */
  async warm({ question, signal }: Asked): Promise<number> {
    const slot = this.#slots.takeFree(keysOf(question));
    if (slot === undefined) return 0;
    try {
      return await this.#read(slot, { question, signal });
    } finally {
      this.#slots.release(slot);
    }
  }

  close(): Promise<void> {
    return this.#llama.dispose();
  }

  async #read({ seat }: Slot<LlamaChat>, { question, signal }: Asked): Promise<number> {
    const functions = toFunctions(question.tools);
    await seat.loadChatAndCompleteUserMessage(toChatItems(question.messages), {
      ...(functions === undefined ? {} : { functions }),
      signal,
      stopOnAbortSignal: true,
      maxTokens: 0,
    });
    return seat.sequence.contextTokens.length;
  }

  /** Form of the answer: a grammar, or tools that may be called in it. */
  async #form({ schema, tools }: LlamaQuestion): Promise<object> {
    if (schema !== undefined) return { grammar: await this.#grammarFor(schema) };
    const functions = toFunctions(tools);
    return functions === undefined ? {} : { functions };
  }

  #grammarFor(schema: object): Promise<object> {
    const key = JSON.stringify(schema);
    const known = this.#grammars.get(key);
    if (known !== undefined) return known;
    if (this.#grammars.size >= GRAMMARS_MAX) this.#grammars.clear();
    const made = this.#llama.createGrammarForJsonSchema(schema);
    this.#grammars.set(key, made);
    return made;
  }
}

/**
 * One core is left to the calls. Threads of llama.cpp wait for each other in a busy loop: with one thread per
 * core, a thread that loses its core makes all others wait.
 */
function threadCount(): number {
  return Math.max(1, availableParallelism() - 1);
}

/** A prompt's parts in the order in which templates write them. */
function keysOf({ messages, tools }: LlamaQuestion): string[] {
  const [system, ...rest] = messages.map((message) => JSON.stringify(message));
  return [`${system}${JSON.stringify(tools ?? [])}`, ...rest];
}

/** The part of the module's own types that is used. @see node-llama-cpp 3.22, `LlamaChat` */
interface LlamaModule {
  getLlama(options: object): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaWeights>;
  createGrammarForJsonSchema(schema: object): Promise<object>;
  dispose(): Promise<void>;
}

interface LlamaWeights {
  /** The longest prompt that the model has learned to read. */
  readonly trainContextSize: number;
  createContext(options: {
    readonly sequences: number;
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
    readonly flashAttention: boolean;
  }): Promise<LlamaContext>;
}

interface LlamaContext {
  getSequence(): LlamaSequence;
}

interface LlamaSequence {
  readonly contextTokens: readonly unknown[];
  readonly tokenMeter: { readonly usedOutputTokens: number };
}

interface LlamaChat {
  readonly sequence: LlamaSequence;
  generateResponse(history: readonly ChatItem[], options: object): Promise<LlamaAnswer>;
  loadChatAndCompleteUserMessage(history: readonly ChatItem[], options: object): Promise<unknown>;
}

interface LlamaAnswer {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
}

/**
 * Loads the module from a separate folder, so that a server without it is 85 MB smaller.
 *
 * @throws {Error} with the command that installs it.
 */
async function importLlama(folder: string): Promise<LlamaModule> {
  if (!isLlamaInstalled(folder)) {
    throw new Error(`node-llama-cpp is not installed; run "${installCommand(folder)}"`);
  }
  return (await import(pathToFileURL(llamaModuleFile(folder)).href)) as LlamaModule;
}

interface FunctionCall {
  readonly type: 'functionCall';
  readonly name: string;
  readonly params: ToolCall['arguments'];
  readonly result: string;
}

/** @see node-llama-cpp, `ChatHistoryItem` */
type ChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: (string | FunctionCall)[] };

/** Makes one item of the agent's words and calls between two turns of the caller; a tool's result stands in its call. */
export function toChatItems(messages: readonly ChatMessage[]): ChatItem[] {
  const items: ChatItem[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'user') {
      items.push({ type: message.role, text: message.content });
    } else if (message.role === 'assistant') {
      const { response } = modelItem(items);
      if (message.content !== '') response.push(message.content);
      for (const call of message.toolCalls ?? []) {
        response.push(toFunctionCall(call, resultOf(call, messages.slice(index + 1))));
      }
    }
  }
  return items;
}

/** The next one with its id: where another model has gone on, or the same one was restarted, ids repeat within a call. */
function resultOf({ id }: ToolCall, later: readonly ChatMessage[]): string {
  return later.find((one) => one.role === 'tool' && one.toolCallId === id)?.content ?? '';
}

/** The last item, if it is the model's; else a new one. */
function modelItem(items: ChatItem[]): Extract<ChatItem, { type: 'model' }> {
  const last = items.at(-1);
  if (last?.type === 'model') return last;
  const item: Extract<ChatItem, { type: 'model' }> = { type: 'model', response: [] };
  items.push(item);
  return item;
}

function toFunctionCall({ name, arguments: params }: ToolCall, result: string): FunctionCall {
  return { type: 'functionCall', name, params, result };
}

/** Tools by name; undefined when there are none. */
function toFunctions(tools: readonly ToolDescription[] = []) {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [name, { description, params: parameters }]),
  );
}

/** One memory. `keys` are its prompt's parts in order, as text. */
interface Slot<Seat> {
  readonly seat: Seat;
  keys: readonly string[];
  isBusy: boolean;
  usedAt: number;
}

/** Limit of calls that wait for a context; further back, a caller would hang up first. */
const WAITING_MAX = 16;

/** Which of the model's memories answers which question: the one that remembers most of it. */
export class LlamaSlots<Seat> {
  readonly #slots: readonly Slot<Seat>[];
  readonly #waiting: (() => void)[] = [];
  #uses = 0;

  constructor(seats: readonly Seat[]) {
    this.#slots = seats.map((seat) => ({ seat, keys: [], isBusy: false, usedAt: 0 }));
  }

  /**
   * Takes a free one: that which shares the longest beginning with `keys`, of equal ones that which rested longest.
   *
   * @returns undefined when all are busy.
   */
  takeFree(keys: readonly string[]): Slot<Seat> | undefined {
    const free = this.#slots.filter(({ isBusy }) => !isBusy);
    const [best] = free.toSorted(
      (one, other) =>
        sharedStart(other.keys, keys) - sharedStart(one.keys, keys) || one.usedAt - other.usedAt,
    );
    if (best === undefined) return undefined;
    this.#uses += 1;
    Object.assign(best, { isBusy: true, keys, usedAt: this.#uses });
    return best;
  }

  /**
   * Waits for one.
   *
   * @throws {Error} when too many wait already; the signal's reason when aborted.
   */
  async take(keys: readonly string[], signal: AbortSignal): Promise<Slot<Seat>> {
    for (;;) {
      signal.throwIfAborted();
      const slot = this.takeFree(keys);
      if (slot !== undefined) return slot;
      if (this.#waiting.length >= WAITING_MAX) throw new Error('too many calls wait for it');
      await this.#turn(signal);
    }
  }

  /** Gives one back; the next who waits may take it. */
  release(slot: Slot<Seat>): void {
    slot.isBusy = false;
    this.#waiting.shift()?.();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      };
      this.#waiting.push(wake);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

/** How many parts two prompts have in common before the first that differs. */
function sharedStart(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((key, index) => key !== other[index]);
  return at === -1 ? Math.min(one.length, other.length) : at;
}
