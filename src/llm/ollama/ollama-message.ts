/** Our messages and tools in the shapes of Ollama's chat interface; pure */
import type { Message, Tool } from 'ollama';
import type { ChatMessage, ToolDescription } from '../language-model.ts';

/** @see Ollama API, "Generate a chat completion" */
export function toOllamaMessage(message: ChatMessage): Message {
  if (message.role === 'tool') {
    return { role: 'tool', content: message.content, tool_name: message.name };
  }
  const { role, content } = message;
  if (role !== 'assistant' || message.toolCalls === undefined) return { role, content };
  return {
    role,
    content,
    tool_calls: message.toolCalls.map((call) => ({
      function: { name: call.name, arguments: { ...call.arguments } },
    })),
  };
}

export function toOllamaTool({ name, description, parameters }: ToolDescription): Tool {
  return { type: 'function', function: { name, description, parameters } };
}
