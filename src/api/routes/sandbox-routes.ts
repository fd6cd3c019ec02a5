/** `/api/sandbox`: lets a scripted party ring in; for test keys alone. */

import type { Agent, Scope } from '../../domain/agent/agent.ts';
import { newCall } from '../../domain/call/call-life.ts';
import { parsePhoneNumber } from '../../domain/dialing/phone-number.ts';
import { scenarioRingingIn } from '../../domain/sandbox/sandbox-scenario.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { QueueRoom } from '../http/queue-room.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { queuedCallSchema } from '../schemas/outbound-schemas.ts';
import { inboundSandboxCallSchema } from '../schemas/sandbox-schemas.ts';
import { existingAgent } from './agent-routes.ts';
import { requireRoom } from './outbound-routes.ts';

/** Default caller: a number reserved for fiction. */
const NOBODYS_NUMBER = '+15005550110';

/** The number that is rung up where the agent has none: of no subscriber. */
const CALLED_NUMBER = '+15005550006';

const inboundRoute = describeRoute({
  tags: ['Sandbox'],
  security: [{ bearer: [] }],
  operationId: 'createSandboxInboundCall',
  method: 'post',
  path: '/api/sandbox/calls/inbound',
  summary: 'Simulates a caller ringing in',
  description:
    'For test keys alone; a live key gets 403. The call is held by the same code as a real one, with a scripted ' +
    'caller. It runs faster than life: its timestamps lie ahead of the clock by up to its own length.',
  middleware: [requireScope('calls:write')],
  request: { query: noQuery, body: jsonBody(inboundSandboxCallSchema) },
  responses: {
    202: jsonResponse('The caller will ring.', queuedCallSchema),
    ...errorResponses(400, 404, 409, 422),
  },
});

export function addSandboxRoutes(api: ApiApp, deps: ApiDeps): void {
  const { calls, clock, dialQueues, newId } = deps;
  const room = new QueueRoom(calls, 'inbound');

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
        await requireRoom(context, dialQueues.test, () => room.takePlace('test'));
        // Simulated calls of both directions share their lines.
        const estimatedStartTime = (await dialQueues.test.estimatedStart(call.to)).toISOString();
        const createdAt = call.createdAt.toISOString();
        const body = { callId: call.id, status: 'queued' as const, estimatedStartTime, createdAt };
        return commit(async (stores) => {
          await stores.calls.insert(call, []);
          return { status: 202, body };
        });
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
  const agent = existingAgent(await agents.find(scope, agentId));
  if (agent.status === 'paused') {
    throw new ServiceError(
      'CONFLICT',
      `Cannot simulate a call to agent "${agent.id}": it is paused`,
    );
  }
  return agent;
}
