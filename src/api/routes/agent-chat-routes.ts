/** `POST /api/agents/{agentId}/chat`: asks an agent in writing what it would say on a call. */

import type { Agent } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { chatReplySchema, chatSchema } from '../schemas/agent-chat-schemas.ts';
import { agentPathSchema } from '../schemas/agent-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { existingAgent } from './agent-routes.ts';

/** A short answer is made in less. */
const RETRY_AFTER_SECONDS = 2;

const chatRoute = describeRoute({
  tags: ['Agents'],
  security: [{ bearer: [] }],
  middleware: [requireScope('agents:write')],
  operationId: 'chatWithAgent',
  method: 'post',
  path: '/api/agents/{agentId}/chat',
  summary: 'Asks an agent in writing what it would say on a call',
  description:
    'The prompt and the language model of its calls; paused agents answer too. Tools are offered to the model and never run: `toolCalls` says what it would have done. ' +
    'Nothing is kept of it but the answer for its `X-Idempotency-Key`. 429 with `Retry-After` also while two chats are being answered; 503 when the model fails, or has not answered within 30 s.',
  request: { params: agentPathSchema, query: noQuery, body: jsonBody(chatSchema) },
  responses: {
    200: jsonResponse('What the agent says.', chatReplySchema),
    ...errorResponses(400, 404, 409, 422),
  },
});

export function addAgentChatRoutes(api: ApiApp, deps: ApiDeps): void {
  const { agents, chat } = deps;

  api.openapi(chatRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { messages } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async () => {
        const agent = existingAgent<Agent>(await agents.find(scopeOf(context), agentId));
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
        const { text, model, isPromptUsed: promptUsed, tookMs } = reply;
        const toolCalls = reply.toolCalls.map((call) => ({ ...call, ran: false as const }));
        return { status: 200, body: { reply: text, toolCalls, model, promptUsed, tookMs } };
      },
    });
  });
}
