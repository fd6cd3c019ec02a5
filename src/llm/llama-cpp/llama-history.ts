/** Our messages and tools in the shapes of node-llama-cpp; pure */
import type { ChatMessage, ToolCall, ToolDescription } from '../language-model.ts';

interface FunctionCall {
  readonly type: 'functionCall';
  readonly name: string;
  readonly params: ToolCall['arguments'];
  readonly result: string;
}

/** @see node-llama-cpp, `ChatHistoryItem` */
export type ChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: (string | FunctionCall)[] };

/** What the agent says and does between two turns of the caller is one item; a tool's result stands in its call. */
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

/** The next one with its id: where another model has gone on, or the same one anew, ids come twice in a call. */
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
export function toFunctions(tools: readonly ToolDescription[] = []) {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [name, { description, params: parameters }]),
  );
}
