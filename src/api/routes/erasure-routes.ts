/** `DELETE /api/calls/{callId}` and `POST /api/privacy/erase`: erase one call, and all calls of a telephone number. */
import { z } from '@hono/zod-openapi';
import {
  checkErasedNumber,
  type ErasureOrder,
  refuseLiveCall,
} from '../../domain/account/erasure.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { notOutbound } from './call-routes.ts';

const eraseNumberSchema = z
  .strictObject({
    phoneNumber: z.string().openapi({
      description: 'As calls show it in `from` or `to`: mostly E.164.',
      example: '+390612345678',
    }),
  })
  .openapi('EraseNumber');

const erasedNumberSchema = z
  .object({
    id: z.string().openapi({ example: 'ers_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    calls: z.int().openapi({ description: 'Calls that are over: they are erased now.' }),
    recordings: z.int().openapi({ description: 'Of these calls.' }),
    callsInProgress: z.int().openapi({ description: 'Calls that are erased when they are over.' }),
  })
  .openapi('ErasedNumber');

const deleteRoute = describeRoute({
  tag: 'Calls',
  before: notOutbound,
  scope: 'calls:write',
  operationId: 'deleteCall',
  method: 'delete',
  path: '/api/calls/{callId}',
  summary: 'Erases a call with all that was kept of it',
  description:
    'Record, transcript, recording, SIP messages, events and webhook deliveries, those that still wait included; what calls add up to stays. 409 while the call is not over.',
  request: { params: callPathSchema },
  responses: { 204: { description: 'The call is gone.' } },
  errors: [409],
});

const numberRoute = describeRoute({
  tag: 'Privacy',
  scope: 'admin',
  operationId: 'erasePhoneNumber',
  method: 'post',
  path: '/api/privacy/erase',
  summary: 'Erases every call from or to a telephone number',
  description:
    'All that `DELETE /api/calls/{callId}` erases, of all calls of the account with the number in `from` or `to`; with a live key of both environments, with a test key of the sandbox. Calls in progress are erased when they are over.',
  request: { body: jsonBody(eraseNumberSchema) },
  responses: { 202: jsonResponse('The calls are being erased.', erasedNumberSchema) },
});

export function addErasureRoutes(api: ApiApp, deps: ApiDeps): void {
  const { calls, erasures, eraser, liveCalls, log } = deps;

  api.openapi(deleteRoute, async (context) => {
    const { callId } = context.req.valid('param');
    existing(await calls.find(scopeOf(context), callId), 'call');
    if (liveCalls.holds(callId)) refuseLiveCall();
    const order = orderOf(context, deps, 'call');
    await erasures.erase(callId, order);
    log.info({ erasureId: order.id, callId, askedBy: order.askedBy }, 'call erased');
    await eraser.finish();
    return context.body(null, 204);
  });

  api.openapi(numberRoute, async (context) => {
    const { phoneNumber: number } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async (commit) => {
        checkErasedNumber(number);
        const order = orderOf(context, deps, 'number');
        const { accountId, environment } = order;
        const answer = await commit(async (stores) => {
          const counts = await stores.erasures.note({ accountId, environment, number }, order);
          return { status: 202, body: { id: order.id, ...counts } };
        });
        const { id: erasureId, ...counts } = answer.body;
        log.info(
          { erasureId, askedBy: order.askedBy, ...counts },
          'calls of a number are being erased',
        );
        return answer;
      },
    });
  });
}

/** A live admin key may erase a number's calls in both environments. */
function orderOf(
  context: ApiContext,
  { clock, newId }: Pick<ApiDeps, 'clock' | 'newId'>,
  kind: 'call' | 'number',
): ErasureOrder {
  const { apiKey, isDashboard } = callerOf(context);
  const { accountId, environment } = apiKey;
  return {
    id: newId('ers'),
    accountId,
    environment: kind === 'number' && environment === 'live' ? null : environment,
    kind,
    askedBy: isDashboard ? 'dashboard' : apiKey.id,
    askedAt: clock.now(),
  };
}
