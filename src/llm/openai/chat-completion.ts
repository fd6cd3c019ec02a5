/** The chat completion interface of OpenAI-compatible servers: what is sent, and what a chunk says; pure */
import { z } from 'zod';
import type { ChatMessage, ModelRequest, ToolCall, ToolDescription } from '../language-model.ts';

const fragment = z.object({
  index: z.number().int().min(0).max(63).default(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

const chunk = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({ content: z.string().nullish(), tool_calls: z.array(fragment).nullish() })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: z.number().int().positive().nullish() }).nullish(),
});

export interface ChatChunk {
  readonly text: string;
  readonly fragments: readonly z.infer<typeof fragment>[];
  readonly isLast: boolean;
  /** Comes once, with the last chunk or after it. */
  readonly promptTokens: number | undefined;
}

/**
 * Reads one chunk of a streamed answer.
 *
 * @throws {TypeError} when it is not a chunk or says that the server failed.
 */
export function readChunk(data: string): ChatChunk {
  const parsed = chunk.safeParse(jsonIn(data));
  if (!parsed.success) throw new TypeError('the answer is not a chat completion chunk');
  if (parsed.data.error !== undefined) throw new TypeError('the server failed while answering');
  const choice = parsed.data.choices[0];
  return {
    text: choice?.delta?.content ?? '',
    fragments: choice?.delta?.tool_calls ?? [],
    isLast: Boolean(choice?.finish_reason),
    promptTokens: parsed.data.usage?.prompt_tokens ?? undefined,
  };
}

/** No tool takes as much; a server that sends more goes on without end. */
const ARGUMENTS_LENGTH_MAX = 16_000;

/** Joins tool calls that come in pieces: the name first, then the arguments a few characters at a time. */
export class ToolCallJoiner {
  readonly #calls: { id: string; name: string; text: string }[] = [];

  /** @throws {RangeError} when the arguments of one do not end. */
  add(fragments: ChatChunk['fragments']): void {
    for (const { index, id, function: called } of fragments) {
      const call = this.#calls[index] ?? { id: '', name: '', text: '' };
      this.#calls[index] = call;
      call.id ||= id ?? '';
      call.name ||= called?.name ?? '';
      call.text += called?.arguments ?? '';
      if (call.text.length > ARGUMENTS_LENGTH_MAX) {
        throw new RangeError('the arguments of a tool call do not end');
      }
    }
  }

  /** @throws {SyntaxError} when the arguments of one are not a JSON object. */
  finish(): ToolCall[] {
    return this.#calls
      .filter((call) => call?.name)
      .map(({ id, name, text }, index) => ({
        id: id === '' ? `call_${index}` : id,
        name,
        arguments: objectFrom(text),
      }));
  }
}

/** @see OpenAI API reference, "Create chat completion" */
export function chatBody(model: string, request: ModelRequest, tokensMax: number) {
  const tools = (request.tools ?? []).map(toTool);
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.3,
    max_tokens: tokensMax,
    messages: request.messages.map(toMessage),
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.schema === undefined ? {} : { response_format: toFormat(request.schema) }),
  };
}

function toMessage(message: ChatMessage) {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
  const { role, content } = message;
  if (role !== 'assistant' || message.toolCalls === undefined) return { role, content };
  const toolCalls = message.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content, tool_calls: toolCalls };
}

function toTool({ name, description, parameters }: ToolDescription) {
  return { type: 'function', function: { name, description, parameters } };
}

function toFormat(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
}

function objectFrom(text: string): Record<string, unknown> {
  const value: unknown = text.trim() === '' ? {} : jsonIn(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new SyntaxError('the arguments of a tool call are not an object');
}

/** Undefined when it is none: the message of `JSON.parse` quotes the text, a caller's name perhaps, and errors are logged. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asked says what it was to be.
    return undefined;
  }
}
