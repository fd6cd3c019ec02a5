/** `POST /api/calls/outbound` and `POST /api/calls/{callId}/hangup`: asks for a call, and ends one. Neither dials. */

import type { z } from '@hono/zod-openapi';
import { requireKnownSpeech } from '../../domain/agent/agent-rules.ts';
import type { Call } from '../../domain/call/call.ts';
import { isOver } from '../../domain/call/call-life.ts';
import { earliestDialAt } from '../../domain/dialing/dial-window.ts';
import {
  abandonQueued,
  callingHoursOf,
  QUEUED_CALLS_MAX,
  queueCall,
  requireOutbound,
} from '../../domain/dialing/outbound-rules.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { type Answer, answerOnce, type Commit } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import {
  hungUpCallSchema,
  queuedCallSchema,
  startCallSchema,
} from '../schemas/outbound-schemas.ts';

/** An estimate for a full queue or a restart. */
const RETRY_AFTER_SECONDS = 30;

const shared = { tag: 'Calls', scope: 'calls:write' } as const;

const startRoute = describeRoute({
  ...shared,
  operationId: 'startOutboundCall',
  method: 'post',
  path: '/api/calls/outbound',
  summary: 'Asks for an outbound call',
  description:
    'The call joins the queue and is dialled in order, as soon as the trunk of `from` has a free line. ' +
    'Emergency, short, premium and satellite numbers, numbers that ring here, and numbers outside of the ' +
    "account's countries (without a list: the country of `from`) are refused. With a test key no real call is placed.",
  request: { body: jsonBody(startCallSchema) },
  responses: { 202: jsonResponse('The call waits to be dialled.', queuedCallSchema) },
  errors: [404],
});

const hangUpRoute = describeRoute({
  ...shared,
  operationId: 'hangUpCall',
  method: 'post',
  path: '/api/calls/{callId}/hangup',
  summary: 'Ends a call',
  description:
    'A call that still waits is never dialled and ends as `failed`, `no_answer`; so does one that rings. ' +
    'A call in progress ends as `agent_hangup`. `call.ended` tells when it is over.',
  request: { params: callPathSchema },
  responses: {
    202: jsonResponse('The call is being ended, or has ended.', hungUpCallSchema),
  },
});

export function addOutboundRoutes(api: ApiApp, deps: ApiDeps): void {
  const { calls } = deps;

  api.openapi(startRoute, async (context) => {
    const { agentId, ...draft } = context.req.valid('json');
    requireKnownSpeech(draft.overrides ?? {}, deps.voices, 'overrides.');
    return answerOnce(context, deps, {
      work: async (commit) => {
        const call = await callToQueue(context, deps, agentId, draft);
        const callingHours = callingHoursOf(call.environment, callerOf(context).account);
        const earliestAt = earliestDialAt(call, { now: deps.clock.now(), callingHours });
        return putInQueue(call, { context, deps, commit, number: call.from, earliestAt });
      },
    });
  });

  api.openapi(hangUpRoute, (context) =>
    answerOnce(context, deps, {
      work: async (commit): Promise<HungUp> => {
        const { callId } = context.req.valid('param');
        const call = existing(await calls.find(scopeOf(context), callId), 'call');
        if (call.status === 'queued') {
          return commit((stores) => hangUpQueued(callId, stores, deps));
        }
        return { status: 202, body: { callId, status: hangUpLive(call, deps) } };
      },
    }),
  );
}

/** @throws {ServiceError} FORBIDDEN, AGENT_NOT_FOUND, CONFLICT or UNPROCESSABLE. */
async function callToQueue(
  context: ApiContext,
  deps: ApiDeps,
  agentId: string,
  draft: Parameters<typeof queueCall>[0],
): Promise<Call> {
  const { agents, clock, dialQueues, newId, numberOwners, plansWithoutOutbound } = deps;
  const { account } = callerOf(context);
  requireOutbound(account, plansWithoutOutbound);
  const agent = existing(await agents.find(scopeOf(context), agentId), 'agent');
  return queueCall(draft, {
    id: newId('call'),
    now: clock.now(),
    agent,
    account,
    hasTrunkFor: (from) => dialQueues[agent.environment].hasTrunkFor(from),
    ownerOf: numberOwners.ownerOf,
    holderOf: (number) => agents.findByPhoneNumber(number),
  });
}

/**
 * Saves a call that waits to be placed.
 *
 * @param by.number whose line it waits for.
 * @param by.earliestAt the first instant at which it may be dialled.
 * @throws {ServiceError} SERVICE_UNAVAILABLE, with Retry-After, when the queue takes no more calls.
 */
export async function putInQueue(
  call: Call,
  by: {
    readonly context: ApiContext;
    readonly deps: ApiDeps;
    readonly commit: Commit;
    readonly number: string;
    readonly earliestAt?: Date;
  },
): Promise<Answer<z.infer<typeof queuedCallSchema>, 202>> {
  const { context, deps, commit, number, earliestAt } = by;
  const queue = deps.dialQueues[call.environment];
  if (queue.isDraining) throw noRoom(context, 'the server is about to stop');
  const lineFreeAt = await queue.estimatedStart(number);
  const estimatedAt = earliestAt !== undefined && earliestAt > lineFreeAt ? earliestAt : lineFreeAt;
  const estimatedStartTime = estimatedAt.toISOString();
  const createdAt = call.createdAt.toISOString();
  return commit(async ({ calls }) => {
    const waiting = await calls.countQueued(call.environment, call.direction);
    if (waiting >= QUEUED_CALLS_MAX) throw noRoom(context, 'the queue is full');
    await calls.insert(call, []);
    return {
      status: 202,
      body: { callId: call.id, status: 'queued', estimatedStartTime, createdAt },
    };
  });
}

function noRoom(context: ApiContext, why: string): ServiceError {
  context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
  return new ServiceError('SERVICE_UNAVAILABLE', `Cannot start the call: ${why}; retry later`);
}

type HungUp = Answer<z.infer<typeof hungUpCallSchema>, 202>;

/** Ends a call that waits. @throws {ServiceError} CONFLICT when it is dialled meanwhile, or over. */
async function hangUpQueued(
  callId: string,
  { calls }: Pick<Stores, 'calls'>,
  { clock, metrics, newId }: ApiDeps,
): Promise<HungUp> {
  const change = await calls.change(callId, (call) =>
    call.status === 'queued'
      ? abandonQueued(call, { now: clock.now(), eventId: newId('evt') })
      : undefined,
  );
  if (change === undefined) {
    throw new ServiceError('CONFLICT', 'Cannot hang up the call: it is being dialled; try again');
  }
  // The sandbox is not counted anywhere else either.
  if (change.call.environment === 'live') metrics.callMissed(change.call.direction, 'no_answer');
  return { status: 202, body: { callId, status: 'failed' } };
}

/**
 * Begins to end a call that rings or is in progress.
 *
 * @returns its status.
 * @throws {ServiceError} CONFLICT when it is over.
 */
function hangUpLive({ id, status }: Call, { liveCalls }: ApiDeps): 'ringing' | 'in_progress' {
  // A call without a session that has no end yet is about to end.
  if (isOver(status) || !liveCalls.hangUp(id)) {
    throw new ServiceError('CONFLICT', 'Cannot hang up the call: it is over');
  }
  return status === 'ringing' ? 'ringing' : 'in_progress';
}
