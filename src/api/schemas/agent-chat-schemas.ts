/** What a chat with an agent looks like in body and answer: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { CHAT_LIMITS } from '../../domain/agent/agent-version.ts';
import { words } from './agent-schemas.ts';

export const chatSchema = z
  .strictObject({
    messages: z
      .array(
        z.strictObject({
          role: z.enum(['user', 'agent']),
          text: words(CHAT_LIMITS.textCharsMax).openapi({ example: 'When are you open?' }),
        }),
      )
      .min(1)
      .max(CHAT_LIMITS.messagesMax)
      .refine((messages) => messages.at(-1)?.role !== 'agent', 'expected words of the user last')
      .openapi({
        description: [
          'What was written so far, oldest first; the last message is the user’s. The agent has said its greeting before',
          'them, unless the first message is its own.',
        ].join(' '),
      }),
  })
  .openapi('AgentChat');

export const chatReplySchema = z
  .object({
    reply: z.string().openapi({
      description: 'As the agent’s voice would say it; empty where the model only asks for a tool.',
    }),
    toolCalls: z
      .array(
        z.object({
          name: z.string().openapi({ example: 'transfer_call' }),
          arguments: z.record(z.string(), z.unknown()),
          ran: z.literal(false).openapi({ description: 'A chat has no call: nothing is done.' }),
        }),
      )
      .openapi({ description: 'What the agent would do on a call.' }),
    model: z.string().openapi({ description: 'What answered.', example: 'ollama/qwen3:4b' }),
    promptUsed: z.boolean().openapi({
      description:
        'False where a rule book answered instead of a language model: it ignores `systemPrompt`.',
    }),
    tookMs: z.int(),
  })
  .openapi('AgentChatReply');
