/** Guard against prompt injection: untrusted text loses control tokens on the way in, reasoning is filtered on the way out. */
import type { Clock } from '../lib/clock.ts';
import type { ModelTimes } from '../lib/metrics/model-metrics.ts';
import {
  type ChatMessage,
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
  type ToolCall,
} from './language-model.ts';

/** Tool names that every model server takes. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Clock and receiver of a model's times to its first event. */
export interface ModelTiming {
  readonly times: ModelTimes;
  readonly clock: Clock;
}

/** Guards one model, and reports the time to its first event. */
export class GuardedModel implements LanguageModel {
  readonly #model: LanguageModel;
  readonly #timing: ModelTiming | undefined;

  /** @param timing measures nothing unless given. */
  constructor(model: LanguageModel, timing?: ModelTiming) {
    this.#model = model;
    this.#timing = timing;
  }

  get name(): string {
    return this.#model.name;
  }

  get ignoresPrompts(): boolean | undefined {
    return this.#model.ignoresPrompts;
  }

  get contextTokens(): number | undefined {
    return this.#model.contextTokens;
  }

  /**
   * An answer that is aborted before its first event counts as neither answered nor failed.
   *
   * @throws {LanguageModelError} also when the answer is nothing but reasoning.
   */
  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const { times, clock } = this.#timing ?? {};
    const startMs = clock?.nowMs() ?? 0;
    let hasAnswered = false;
    try {
      for await (const event of this.#answer(request)) {
        if (!hasAnswered) times?.answered('llm', this.name, (clock?.nowMs() ?? 0) - startMs);
        hasAnswered = true;
        yield event;
      }
    } catch (error) {
      if (!request.signal.aborted) times?.failed('llm', this.name);
      throw error;
    }
  }

  /** Not timed: no turn waits for it. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    return (await this.#model.warm?.(withUntrustedText(prefix))) ?? false;
  }

  check(): Promise<void> {
    return this.#model.check();
  }

  async stop(): Promise<void> {
    await this.#model.stop?.();
  }

  async *#answer(request: ModelRequest): AsyncIterable<ModelEvent> {
    const said = new ReasoningFilter();
    let hasCalled = false;
    for await (const event of this.#model.stream(withUntrustedText(request))) {
      if (event.kind === 'text') {
        yield* textEvent(this.#push(said, event.text));
      } else if ((request.tools ?? []).length > 0) {
        hasCalled = true;
        yield { kind: 'tool-call', call: named(event.call) };
      }
    }
    yield* textEvent(said.flush());
    if (said.hasThought && !said.hasSaid && !hasCalled) throw this.#speechless();
  }

  #push(said: ReasoningFilter, text: string): string {
    try {
      return said.push(text);
    } catch (error) {
      throw this.#speechless(error);
    }
  }

  #speechless(cause?: unknown): LanguageModelError {
    return new LanguageModelError(
      `Cannot get an answer from "${this.name}": it only thinks aloud; switch its thinking off`,
      { cause },
    );
  }
}

function* textEvent(text: string): Iterable<ModelEvent> {
  if (text !== '') yield { kind: 'text', text };
}

/** Renames a call to `unknown` when no tool can have its name; the toolbox then tells the model that the tool is missing. */
function named(call: ToolCall): ToolCall {
  return TOOL_NAME.test(call.name) ? call : { ...call, name: 'unknown' };
}

/** Not to be seen or heard, but read by models: tag characters, zero-width spaces, marks that turn the writing round. */
const INVISIBLE =
  /[\u{E0000}-\u{E007F}\u{AD}\u{200B}\u{2060}-\u{2064}\u{FEFF}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/** Control characters of both blocks (C0 and C1), except tab and line feed. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** Marks of the Mistral family, such as `[INST]` and `[/TOOL_CALLS]`; full-width brackets are folded by tokenisers. */
const BRACKETED = /[[［](\/?(?:[A-Z_]{2,}|inst))[\]］]/g;

/**
 * Replaces text that chat templates and tokenisers take for control tokens: `<|im_start|>`, `</s>`, `<think>`, `[INST]`.
 * Model servers read special tokens wherever they stand, also in the middle of a caller's words; a telephone call has
 * no use for angle brackets. Removals come first, so that none joins the two halves of a mark.
 */
export function withoutControlTokens(text: string): string {
  return text
    .toWellFormed()
    .replace(INVISIBLE, '')
    .replace(CONTROL, ' ')
    .replace(/[<＜﹤]/g, '‹')
    .replace(/[>＞﹥]/g, '›')
    .replace(BRACKETED, '($1)');
}

/** The request with every message but the operator's own made harmless. Equal messages stay equal from turn to turn. */
export function withUntrustedText<Request extends Pick<ModelRequest, 'messages'>>(
  request: Request,
): Request {
  return { ...request, messages: request.messages.map(harmlessMessage) };
}

function harmlessMessage(message: ChatMessage): ChatMessage {
  if (message.role === 'system') return message;
  const content = withoutControlTokens(message.content);
  if (message.role !== 'assistant' || message.toolCalls === undefined) {
    return { ...message, content };
  }
  return { ...message, content, toolCalls: message.toolCalls.map(harmlessCall) };
}

/** Removes control tokens from the arguments of a tool call, which may hold the caller's words. */
function harmlessCall(call: ToolCall): ToolCall {
  return { ...call, arguments: harmlessValue(call.arguments) as ToolCall['arguments'] };
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutControlTokens(value);
  if (Array.isArray(value)) return value.map(harmlessValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [withoutControlTokens(name), harmlessValue(one)]),
  );
}

/** Opening marks of blocks that are not said: reasoning, and calls that the server did not recognise as such. */
const SILENT_BLOCK = /^<(think|thinking|thought|reasoning|tool_call|tool_response|function_call)>/i;

/** A mark in one piece, such as `<|im_end|>`, `</s>` or `<tool_call>`. "3 < 5" is none. */
const MARK = /^<[/|a-z_][^<>]{0,40}>/i;

/** The beginning of a possible mark. */
const MARK_BEGUN = /^<(?:[/|a-z_][^<>\n]{0,40})?$/i;

/** Longer than any closing mark. */
const CLOSING_LENGTH_MAX = 20;

/** A model that thinks for longer than this will not come to an answer. */
const SILENT_LENGTH_MAX = 20_000;

/** One answer as it streams. */
export class ReasoningFilter {
  #rest = '';
  #openBlock: string | undefined;
  #silentLength = 0;
  #hasSaid = false;

  /** Whether any text has been passed on. */
  get hasSaid(): boolean {
    return this.#hasSaid;
  }

  /** Whether any text was held back, such as reasoning. */
  get hasThought(): boolean {
    return this.#silentLength > 0;
  }

  /**
   * Takes the next piece.
   *
   * @returns text that can be spoken now; may be empty. White space before the first word is left out.
   * @throws {RangeError} when the model only thinks.
   */
  push(piece: string): string {
    this.#rest += piece;
    let said = '';
    while (this.#rest !== '') {
      const before = this.#rest.length;
      said += this.#openBlock === undefined ? this.#sayOn() : this.#thinkOn(this.#openBlock);
      if (this.#rest.length === before) break;
    }
    return this.#out(said);
  }

  /** Ends the answer. The beginning of a possible mark counts as text; an unfinished reasoning block stays unsaid. */
  flush(): string {
    const rest = this.#openBlock === undefined ? this.#rest : '';
    this.#rest = '';
    return this.#out(rest);
  }

  #sayOn(): string {
    const at = this.#rest.indexOf('<');
    if (at !== 0) return this.#take(at === -1 ? this.#rest.length : at);
    this.#openBlock = SILENT_BLOCK.exec(this.#rest)?.[1];
    const mark = MARK.exec(this.#rest)?.[0];
    if (mark !== undefined) {
      this.#take(mark.length);
      this.#silentLength += mark.length;
      return '';
    }
    return MARK_BEGUN.test(this.#rest) ? '' : this.#take(1);
  }

  #thinkOn(block: string): string {
    const closing = `</${block}>`;
    const at = this.#rest.toLowerCase().indexOf(closing.toLowerCase());
    const length = at === -1 ? this.#rest.length - CLOSING_LENGTH_MAX : at + closing.length;
    this.#silentLength += this.#take(Math.max(0, length)).length;
    if (at !== -1) this.#openBlock = undefined;
    if (this.#silentLength > SILENT_LENGTH_MAX) throw new RangeError('it only thinks aloud');
    return '';
  }

  #take(length: number): string {
    const taken = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return taken;
  }

  #out(text: string): string {
    const said = this.#hasSaid ? text : text.trimStart();
    this.#hasSaid ||= said !== '';
    return said;
  }
}
