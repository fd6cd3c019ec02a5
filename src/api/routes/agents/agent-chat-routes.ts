/** `POST /api/agents/{agentId}/chat`: asks an agent in writing what it would say on a call. */
import { z } from '@hono/zod-openapi';
import type { Agent } from '../../../domain/agent/agent.ts';
import { CHAT_LIMITS } from '../../../domain/agent/agent-version.ts';
import { agentOnTrial, existingDraft } from '../../../domain/agent/saved-draft.ts';
import { ServiceError } from '../../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { existing } from '../../http/errors.ts';
import { agentPathSchema, words } from '../../schemas/agent-schemas.ts';
import { jsonBody, jsonResponse } from '../../schemas/json-content.ts';

const chatSchema = z
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
    draft: z.boolean().optional().openapi({
      description:
        'Answers as the agent would with its draft published. For sessions of the dashboard; 403 to other keys, 404 without a draft.',
    }),
  })
  .openapi('AgentChat');

const chatReplySchema = z
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
    preparedMs: z.int().openapi({
      description:
        'Milliseconds from the request until the model was asked: tools and passages of documents were found.',
    }),
    firstTokenMs: z.int().openapi({
      description: 'Milliseconds from the request until the model’s first word or tool call.',
    }),
    tookMs: z.int().openapi({ description: 'Milliseconds from the request until the answer.' }),
  })
  .openapi('AgentChatReply');

/** A short answer is made in less. */
const RETRY_AFTER_SECONDS = 2;

const chatRoute = describeRoute({
  tag: 'Agents',
  scope: 'agents:write',
  operationId: 'chatWithAgent',
  method: 'post',
  path: '/api/agents/{agentId}/chat',
  summary: 'Asks an agent in writing what it would say on a call',
  description:
    'The prompt and the language model of its calls; paused agents answer too. Tools are offered to the model and never run: `toolCalls` says what it would have done. ' +
    'Nothing is kept of it but the answer for its `X-Idempotency-Key`. 429 with `Retry-After` also while two chats are being answered; 503 when the model fails, or has not answered within 30 s.',
  request: { params: agentPathSchema, body: jsonBody(chatSchema) },
  responses: { 200: jsonResponse('What the agent says.', chatReplySchema) },
});

export function addAgentChatRoutes(api: ApiApp, deps: ApiDeps): void {
  const { chat } = deps;

  api.openapi(chatRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { messages, draft: isDraft = false } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async () => {
        const agent = await agentAsked(context, deps, { agentId, isDraft });
        const { account } = callerOf(context);
        const reply = await chat.reply({
          agent,
          account,
          messages,
          signal: context.req.raw.signal,
        });
        if (reply === null) {
          context.header('Retry-After', String(RETRY_AFTER_SECONDS));
          throw new ServiceError(
            'RATE_LIMITED',
            'Cannot answer as the agent: two chats are being answered; retry later',
          );
        }
        const { text, model, isPromptUsed: promptUsed } = reply;
        const { preparedMs, firstTokenMs, tookMs } = reply;
        const toolCalls = reply.toolCalls.map((call) => ({ ...call, ran: false as const }));
        const took = { preparedMs, firstTokenMs, tookMs };
        return { status: 200, body: { reply: text, toolCalls, model, promptUsed, ...took } };
      },
    });
  });
}

/** @throws {ServiceError} AGENT_NOT_FOUND; of a draft also FORBIDDEN to keys of customers, NOT_FOUND when there is none. */
async function agentAsked(
  context: ApiContext,
  { agents, agentDrafts, clock }: ApiDeps,
  { agentId, isDraft }: { readonly agentId: string; readonly isDraft: boolean },
): Promise<Agent> {
  if (isDraft && !callerOf(context).isDashboard) {
    throw new ServiceError('FORBIDDEN', 'Cannot try the draft: only the dashboard can');
  }
  const scope = scopeOf(context);
  const agent = existing(await agents.find(scope, agentId), 'agent');
  if (!isDraft) return agent;
  const draft = existingDraft(await agentDrafts.find(scope, agentId));
  return agentOnTrial(agent, draft, clock.now());
}
