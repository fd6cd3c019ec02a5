/** Call control: `/api/calls/outbound` asks for a call, `/api/calls/{callId}/transfer` and `/hangup` move and end one. */
import { z } from '@hono/zod-openapi';
import { requireKnownSpeech } from '../../domain/agent/agent-rules.ts';
import { TRANSFER_MODES, transferTarget } from '../../domain/agent/transfer-rules.ts';
import type { Call } from '../../domain/call/call.ts';
import { isOver } from '../../domain/call/call-life.ts';
import type { TransferStart } from '../../domain/call/live-sound.ts';
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
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { type Answer, answerOnce, type Commit } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import {
  hungUpCallSchema,
  queuedCallSchema,
  startCallSchema,
} from '../schemas/outbound-schemas.ts';

/** An estimate for a full queue or a restart. */
const RETRY_AFTER_SECONDS = 30;

const writeRoute = routesOf({ tag: 'Calls', scope: 'calls:write' });

const startRoute = writeRoute('post', '/api/calls/outbound', {
  operationId: 'startOutboundCall',
  summary: 'Asks for an outbound call',
  description:
    'The call joins the queue and is dialled in order, as soon as the trunk of `from` has a free line. ' +
    'Emergency, short, premium and satellite numbers, numbers that ring here, and numbers outside of the ' +
    "account's countries (without a list: the country of `from`) are refused. With a test key no real call is placed.",
  request: { body: jsonBody(startCallSchema) },
  responses: { 202: jsonResponse('The call waits to be dialled.', queuedCallSchema) },
  errors: [404],
});

const hangUpRoute = writeRoute('post', '/api/calls/{callId}/hangup', {
  operationId: 'hangUpCall',
  summary: 'Ends a call',
  description:
    'A call that still waits is never dialled and ends as `failed`, `no_answer`; so does one that rings. ' +
    'A call in progress ends as `agent_hangup`. `call.ended` tells when it is over.',
  responses: {
    202: jsonResponse('The call is being ended, or has ended.', hungUpCallSchema),
  },
});

/** Adds `POST /api/calls/outbound`, which queues a call. */
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

const SUMMARY_CHARS_MAX = 500;

const transferCallSchema = z
  .strictObject({
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
    mode: z
      .enum(TRANSFER_MODES)
      .default('cold')
      .openapi({
        description:
          '`cold`: the third party is connected to the caller at once. `warm`: the agent first tells the third party, alone, what the call is about, and asks whether it takes the call (`settings.transferAcceptance`). ' +
          '`three-way`: likewise, and then the agent stays: all three hear one another until one of them hangs up, or the agent leaves.',
      }),
    summary: z.string().max(SUMMARY_CHARS_MAX).default('').openapi({
      description:
        'What the caller wants: said to the third party, except in a `cold` transfer, and sent with `call.bridged`.',
      example: 'The caller asks for a refund of order 7.',
    }),
  })
  .openapi('TransferCall');

const transferringCallSchema = z
  .object({
    id: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    callId: z
      .string()
      .openapi({ description: 'The same, as the other requests that steer a call name it.' }),
    status: z.literal('transferring'),
  })
  .openapi('TransferringCall');

const transferRoute = writeRoute('post', '/api/calls/{callId}/transfer', {
  operationId: 'transferCall',
  summary: 'Hands the caller over to another number',
  description:
    'As the tool `transfer_call` does, to any number that our number on the call could call. The agent goes on talking until the other party ' +
    'answers; then `call.bridged` is sent. Where the carrier takes the caller over (REFER), the call ends then. Where both are joined here, the call ' +
    'stays `in_progress` without its agent, recorded and within `maxDurationSeconds`, until one of the two hangs up. Either way its `endReason` is ' +
    '`transferred`; with `settings.afterTransfer` `return` the caller is back with the agent when the other party hangs up first. Without an answer there, the call goes on with its agent, and its timeline says `transfer_failed`. With `mode` `three-way` the ' +
    'call goes on with all three: `call.bridged` has `agentRole` `participant`; once the agent leaves it is a joined call. ' +
    '409 where the call is not in progress, is being transferred, or was transferred already. ' +
    '429 with `Retry-After` also when 200 transfers were tried on calls of the agent since 00:00 UTC, those of the tool included.',
  request: { body: jsonBody(transferCallSchema) },
  responses: {
    202: jsonResponse('The other party is being called.', transferringCallSchema),
  },
});

/** Adds `/transfer` and `/hangup` of a call in progress. */
export function addTransferRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(transferRoute, (context) =>
    answerOnce(context, deps, {
      work: async () => {
        const { callId } = context.req.valid('param');
        const call = existing(await deps.calls.find(scopeOf(context), callId), 'call');
        if (call.status !== 'in_progress') throw notInProgress();
        const { to, ...manner } = context.req.valid('json');
        const number = await numberFor(to, call, { ...deps, context });
        const start = deps.liveCalls.transfer(call.id, number, manner);
        if (start !== 'begun') throw refusalOf(start, context, deps.clock);
        return { status: 202, body: { id: callId, callId, status: 'transferring' as const } };
      },
    }),
  );
}

/** @throws {ServiceError} UNPROCESSABLE for a number that may not be dialled. */
async function numberFor(
  to: string,
  call: Call,
  { agents, context }: Pick<ApiDeps, 'agents'> & { readonly context: ApiContext },
): Promise<string> {
  return transferTarget(to, {
    call,
    agent: await agents.find(scopeOf(context), call.agentId),
    account: callerOf(context).account,
    holderOf: (number) => agents.findByPhoneNumber(number),
  });
}

/** CONFLICT without a caller on the line or during another transfer; RATE_LIMITED to the end of the UTC day. */
function refusalOf(
  start: Exclude<TransferStart, 'begun'>,
  context: ApiContext,
  clock: Clock,
): ServiceError {
  switch (start) {
    case 'not-in-progress':
      return notInProgress();
    case 'transferring':
      return new ServiceError(
        'CONFLICT',
        'Cannot transfer the call: it is being transferred already',
      );
    case 'transferred':
      return new ServiceError(
        'CONFLICT',
        'Cannot transfer the call: its caller was transferred already',
      );
    case 'too-many-today':
      context.header('Retry-After', String(secondsToNextDay(clock.now())));
      return new ServiceError(
        'RATE_LIMITED',
        'Cannot transfer the call: too many transfers were tried on calls of its agent today (UTC)',
      );
    default:
      return start satisfies never;
  }
}

function secondsToNextDay(now: Date): number {
  return Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000);
}

function notInProgress(): ServiceError {
  return new ServiceError('CONFLICT', 'Cannot transfer the call: it is not in progress');
}
