/** Takes the power out of words that others wrote, before a model reads them; pure */
import type { ChatMessage, ModelRequest, ToolCall } from './language-model.ts';

/** Not to be seen or heard, but read by models: tag characters, zero-width spaces, marks that turn the writing round. */
const INVISIBLE =
  /[\u{E0000}-\u{E007F}\u{AD}\u{200B}\u{2060}-\u{2064}\u{FEFF}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/** Everything below the space but tab and line feed, and the second block of control characters. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** Marks of the Mistral family, such as `[INST]` and `[/TOOL_CALLS]`; full-width brackets are folded by tokenisers. */
const BRACKETED = /[[［](\/?(?:[A-Z_]{2,}|inst))[\]］]/g;

/**
 * Replaces what chat templates and tokenisers take for their own marks: `<|im_start|>`, `</s>`, `<think>`, `[INST]`.
 * Model servers read special tokens wherever they stand, also in the middle of a caller's words; a telephone call has
 * no use for angle brackets. Nothing is taken out in a way that puts two halves of a mark together.
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

/** What the model asked for may hold what the caller said. */
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
