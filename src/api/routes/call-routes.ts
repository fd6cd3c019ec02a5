/** `/api/calls`: lists, shows and erases calls; `/api/privacy/erase` erases all calls of a telephone number. */

import { z } from '@hono/zod-openapi';
import {
  checkErasedNumber,
  type ErasureOrder,
  refuseLiveCall,
} from '../../domain/account/erasure.ts';
import { type Call, type CallList, NO_NOTE } from '../../domain/call/call.ts';
import { LINK_LIFETIME_MS, recordingLink } from '../../domain/call/recording-link.ts';
import { given } from '../../domain/ids.ts';
import {
  type ApiApp,
  type ApiContext,
  type ApiDeps,
  callerOf,
  type Guard,
  scopeOf,
} from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute, jsonBody, jsonResponse, routesOf } from '../http/describe-route.ts';
import { existing, notFound } from '../http/errors.ts';
import {
  callChangeSchema,
  callCursorOf,
  callPageSchema,
  callQuerySchema,
  callSchema,
  timelinePageSchema,
  timelineQuerySchema,
} from '../schemas/call-schemas.ts';
import { serializeCall, serializeCallItem, serializeTimelineEntry } from '../serializers.ts';

/** `/api/calls/outbound` has methods of its own, and GET is none of them. */
const notOutbound: Guard = (context, next) => {
  if (context.req.param('callId') === 'outbound') throw notFound(context, ['POST']);
  return next();
};

const readRoute = routesOf({ tag: 'Calls', scope: 'calls:read' });

const writeRoute = routesOf({ tag: 'Calls', scope: 'calls:write' });

const listRoute = readRoute('get', '/api/calls', {
  operationId: 'listCalls',
  summary: 'Lists calls, newest start first',
  description:
    'A call that has not started is sorted and filtered by when it was asked for. Days are UTC and inclusive. Pages that follow `nextCursor` hold each call once, also while new ones come; a call that starts meanwhile moves to the front.',
  request: { query: callQuerySchema },
  responses: { 200: jsonResponse('A page of calls.', callPageSchema) },
});

const getRoute = readRoute('get', '/api/calls/{callId}', {
  before: notOutbound,
  operationId: 'getCall',
  summary: 'Shows a call, with its transcript when there is one',
  responses: { 200: jsonResponse('The whole call.', callSchema) },
});

const changeRoute = writeRoute('patch', '/api/calls/{callId}', {
  before: notOutbound,
  operationId: 'updateCall',
  summary: 'Tags a call, or writes a note on it',
  description:
    'At any time, also while the call goes on. `tags` replaces all tags of the call; `GET /api/calls?tag=` finds them. What is erased of a call takes its note along.',
  request: { body: jsonBody(callChangeSchema) },
  responses: { 200: jsonResponse('The whole call.', callSchema) },
});

const timelineRoute = readRoute('get', '/api/calls/{callId}/events', {
  operationId: 'listCallEvents',
  summary: "Shows a call's timeline, with the latencies of every turn",
  request: { query: timelineQuerySchema },
  responses: {
    200: jsonResponse('A page of the timeline, oldest first.', timelinePageSchema),
  },
});

/** Adds `/api/calls`: the list, single calls and their timelines, tags and notes. */
export function addCallRoutes(api: ApiApp, deps: ApiDeps): void {
  const { calls, callNotes } = deps;

  api.openapi(listRoute, async (context) => {
    const { limit, offset, cursor, q, startDate, endDate, ...filters } = context.req.valid('query');
    const span = { startedFrom: startDate, startedBefore: endDate, after: cursor };
    const query = { ...given({ ...filters, ...span, search: q }), limit, offset };
    const page = await calls.list(scopeOf(context), query);
    const notes = await callNotes.ofCalls(page.calls.map(({ id }) => id));
    const data = page.calls.map((call) => serializeCallItem(call, notes.get(call.id)?.tags ?? []));
    return context.json({ data, limit, ...envelopeOf(page) }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await calls.find(scopeOf(context), callId), 'call');
    return context.json(await wholeCall(call, deps), 200);
  });

  api.openapi(changeRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await calls.find(scopeOf(context), callId), 'call');
    await callNotes.change(callId, given(context.req.valid('json')));
    return context.json(await wholeCall(call, deps), 200);
  });

  api.openapi(timelineRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const call = existing(
      await calls.find(scopeOf(context), context.req.valid('param').callId),
      'call',
    );
    const entries = await calls.timeline(call.id);
    const data = entries.slice(offset, offset + limit).map(serializeTimelineEntry);
    return context.json({ data, total: entries.length, limit, offset }, 200);
  });
}

function envelopeOf({ calls, total, offset }: CallList) {
  const last = calls.at(-1);
  const hasMore = last !== undefined && offset + calls.length < total;
  const nextCursor = hasMore
    ? callCursorOf({ at: last.startedAt ?? last.createdAt, id: last.id })
    : null;
  return { total, offset, nextCursor, hasMore };
}

async function wholeCall(call: Call, deps: ApiDeps): Promise<ReturnType<typeof serializeCall>> {
  const url = call.recordingFile === null ? null : recordingUrl(call.id, deps);
  const notes = await deps.callNotes.ofCalls([call.id]);
  return serializeCall(call, {
    transcript: await deps.calls.transcript(call.id),
    messages: await deps.smsMessages.ofCall(call.id),
    note: notes.get(call.id) ?? NO_NOTE,
    recordingUrl: url,
  });
}

/** A link that works for a day without a key. */
function recordingUrl(callId: string, deps: ApiDeps): string {
  const expiresAt = new Date(deps.clock.now().getTime() + LINK_LIFETIME_MS);
  const { publicUrl, recordingSecret: secret } = deps;
  return recordingLink(callId, { publicUrl, secret, expiresAt });
}

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

const deleteRoute = writeRoute('delete', '/api/calls/{callId}', {
  before: notOutbound,
  operationId: 'deleteCall',
  summary: 'Erases a call with all that was kept of it',
  description:
    'Record, transcript, recording, SIP messages, events and webhook deliveries, those that still wait included; what calls add up to stays. 409 while the call is not over.',
  responses: { 204: { description: 'The call is gone.' } },
  errors: [409],
});

const numberRoute = describeRoute('post', '/api/privacy/erase', {
  tag: 'Privacy',
  scope: 'admin',
  operationId: 'erasePhoneNumber',
  summary: 'Erases every call from or to a telephone number',
  description:
    'All that `DELETE /api/calls/{callId}` erases, of all calls of the account with the number in `from` or `to`; with a live key of both environments, with a test key of the sandbox. Calls in progress are erased when they are over.',
  request: { body: jsonBody(eraseNumberSchema) },
  responses: { 202: jsonResponse('The calls are being erased.', erasedNumberSchema) },
});

/** Adds `DELETE /api/calls/{callId}` and `POST /api/privacy/erase`. */
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
