/** `/api/sandbox`: lets a scripted party ring in; for test keys alone. */
import { z } from '@hono/zod-openapi';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import { newCall } from '../../domain/call/call-life.ts';
import { parsePhoneNumber } from '../../domain/dialing/phone-number.ts';
import {
  SANDBOX_SCENARIOS,
  SCENARIO_BY_DIGITS,
  scenarioNamed,
  scenarioRingingIn,
} from '../../domain/sandbox/sandbox-scenario.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { queuedCallSchema } from '../schemas/outbound-schemas.ts';
import { putInQueue } from './outbound-routes.ts';

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

const inboundRoute = describeRoute({
  tag: 'Sandbox',
  operationId: 'createSandboxInboundCall',
  method: 'post',
  path: '/api/sandbox/calls/inbound',
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
