/** Trying agents without a telephone: `/api/sandbox` with a scripted caller, `/api/agents/{agentId}/chat` in writing. */
import { z } from '@hono/zod-openapi';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import { agentOnTrial, CHAT_LIMITS, existingDraft } from '../../domain/agent/agent-version.ts';
import { newCall } from '../../domain/call/call-life.ts';
import { parsePhoneNumber } from '../../domain/dialing/phone-number.ts';
import {
  SANDBOX_SCENARIOS,
  SCENARIO_BY_DIGITS,
  scenarioNamed,
  scenarioRingingIn,
} from '../../domain/sandbox-scenario.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute, jsonBody, jsonResponse } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { words } from '../schemas/agent-schemas.ts';
import { queuedCallSchema } from '../schemas/outbound-schemas.ts';
import { putInQueue } from './call-control-routes.ts';

const byDigits = Object.entries(SCENARIO_BY_DIGITS)
  .map(([digits, name]) => `${digits} ${name}`)
  .join(', ');

const inboundSandboxCallSchema = z
  .strictObject({
    agentId: z.string().openapi({ example: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    from: z.string().optional().openapi({
      description: 'Number of the caller, E.164. No real call is made.',
      example: '+15005550110',
    }),
    scenario: z
      .string()
      .refine(
        (text) => scenarioNamed(text) !== undefined,
        `expected two digits, or one of ${SANDBOX_SCENARIOS.join(', ')}`,
      )
      .optional()
      .openapi({
        pattern: `^(?:\\d\\d|${SANDBOX_SCENARIOS.join('|')})$`,
        description:
          `What the caller does: ${SANDBOX_SCENARIOS.join(', ')}, or two digits (${byDigits}). ` +
          'Without it the last two digits of `from` decide; other digits, or no `from`, mean friendly. ' +
          'busy and voicemail never ring in (422).',
        example: 'appointment',
      }),
  })
  .openapi('InboundSandboxCall');

/** Default caller: a number reserved for fiction. */
const NOBODYS_NUMBER = '+15005550110';

/** The number that is rung up where the agent has none: of no subscriber. */
const CALLED_NUMBER = '+15005550006';

const inboundRoute = describeRoute('post', '/api/sandbox/calls/inbound', {
  tag: 'Sandbox',
  operationId: 'createSandboxInboundCall',
  summary: 'Simulates a caller ringing in',
  description:
    'For test keys alone; a live key gets 403. The call is held by the same code as a real one, with a scripted ' +
    'caller. It runs faster than life: its timestamps lie ahead of the clock by up to its own length. ' +
    'Nothing is sent; in own_tools alone the servers of the tools that the agent lists are asked.',
  scope: 'calls:write',
  request: { body: jsonBody(inboundSandboxCallSchema) },
  responses: { 202: jsonResponse('The caller will ring.', queuedCallSchema) },
  errors: [404],
});

/** Adds `/api/sandbox/calls/inbound`: calls with a scripted caller, without a trunk. */
export function addSandboxRoutes(api: ApiApp, deps: ApiDeps): void {
  const { clock, newId } = deps;

  api.openapi(inboundRoute, async (context) => {
    const { agentId, from, scenario } = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        refuseLive(scope);
        const agent = await answeringAgent(deps, scope, agentId);
        const call = newCall(agent, {
          id: newId('call'),
          now: clock.now(),
          direction: 'inbound',
          scenario: scenarioRingingIn({ from, scenario }),
          from: from === undefined ? NOBODYS_NUMBER : parsePhoneNumber(from, 'from'),
          to: agent.phoneNumber ?? CALLED_NUMBER,
        });
        // Simulated calls of both directions share their lines.
        return putInQueue(call, { context, deps, commit, number: call.to });
      },
    });
  });
}

function refuseLive({ environment }: Scope): void {
  if (environment === 'test') return;
  throw new ServiceError(
    'FORBIDDEN',
    'Cannot simulate a call with a live key: the sandbox is for test keys',
  );
}

/** @throws {ServiceError} AGENT_NOT_FOUND, or CONFLICT when the agent is paused. */
async function answeringAgent({ agents }: ApiDeps, scope: Scope, agentId: string): Promise<Agent> {
  const agent = existing(await agents.find(scope, agentId), 'agent');
  if (agent.status === 'paused') {
    throw new ServiceError(
      'CONFLICT',
      `Cannot simulate a call to agent "${agent.id}": it is paused`,
    );
  }
  return agent;
}

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

const chatRoute = describeRoute('post', '/api/agents/{agentId}/chat', {
  tag: 'Agents',
  scope: 'agents:write',
  operationId: 'chatWithAgent',
  summary: 'Asks an agent in writing what it would say on a call',
  description:
    'The prompt and the language model of its calls; paused agents answer too. Tools are offered to the model and never run: `toolCalls` says what it would have done. ' +
    'Nothing is kept of it but the answer for its `X-Idempotency-Key`. 429 with `Retry-After` also while two chats are being answered; 503 when the model fails, or has not answered within 30 s.',
  request: { body: jsonBody(chatSchema) },
  responses: { 200: jsonResponse('What the agent says.', chatReplySchema) },
});

/** Adds `/api/agents/{agentId}/chat`: one reply of the agent in writing. */
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
