/** `POST /api/calls/{callId}/transfer`: takes a call over from its agent. */
import { z } from '@hono/zod-openapi';
import { TRANSFER_MODES, transferTarget } from '../../domain/agent/transfer-rules.ts';
import type { Call } from '../../domain/call/call.ts';
import type { TransferStart } from '../../domain/call/live-sound.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';

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

const DAY_MS = 86_400_000;

const transferRoute = describeRoute({
  tag: 'Calls',
  scope: 'calls:write',
  operationId: 'transferCall',
  method: 'post',
  path: '/api/calls/{callId}/transfer',
  summary: 'Hands the caller over to another number',
  description:
    'As the tool `transfer_call` does, to any number that our number on the call could call. The agent goes on talking until the other party ' +
    'answers; then `call.bridged` is sent. Where the carrier takes the caller over (REFER), the call ends then. Where both are joined here, the call ' +
    'stays `in_progress` without its agent, recorded and within `maxDurationSeconds`, until one of the two hangs up. Either way its `endReason` is ' +
    '`transferred`; with `settings.afterTransfer` `return` the caller is back with the agent when the other party hangs up first. Without an answer there, the call goes on with its agent, and its timeline says `transfer_failed`. With `mode` `three-way` the ' +
    'call goes on with all three: `call.bridged` has `agentRole` `participant`; once the agent leaves it is a joined call. ' +
    '409 where the call is not in progress, is being transferred, or was handed over already. ' +
    '429 with `Retry-After` also when 200 transfers were tried on calls of the agent since 00:00 UTC, those of the tool included.',
  request: { params: callPathSchema, body: jsonBody(transferCallSchema) },
  responses: {
    202: jsonResponse('The other party is being called.', transferringCallSchema),
  },
});

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
        'Cannot transfer the call: its caller was handed over already',
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
