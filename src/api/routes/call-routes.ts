/** `/api/calls`: lists calls, shows one with its transcript, and its timeline. */

import type { Call, CallList } from '../../domain/call/call.ts';
import { NO_NOTE } from '../../domain/call/call-note.ts';
import { LINK_LIFETIME_MS, recordingLink } from '../../domain/call/recording-link.ts';
import { given } from '../../domain/ids.ts';
import { type ApiApp, type ApiDeps, type Guard, scopeOf } from '../api-env.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing, notFound } from '../http/errors.ts';
import {
  callChangeSchema,
  callCursorOf,
  callPageSchema,
  callPathSchema,
  callQuerySchema,
  callSchema,
  timelinePageSchema,
  timelineQuerySchema,
} from '../schemas/call-schemas.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import {
  serializeCall,
  serializeCallItem,
  serializeTimelineEntry,
} from '../serializers/call-serializer.ts';

/** `/api/calls/outbound` has methods of its own, and GET is none of them. */
export const notOutbound: Guard = (context, next) => {
  if (context.req.param('callId') === 'outbound') throw notFound(context, ['POST']);
  return next();
};

const shared = { tag: 'Calls', scope: 'calls:read' } as const;

const listRoute = describeRoute({
  ...shared,
  operationId: 'listCalls',
  method: 'get',
  path: '/api/calls',
  summary: 'Lists calls, newest start first',
  description:
    'A call that has not started is sorted and filtered by when it was asked for. Days are UTC and inclusive. Pages that follow `nextCursor` hold each call once, also while new ones come; a call that starts meanwhile moves to the front.',
  request: { query: callQuerySchema },
  responses: { 200: jsonResponse('A page of calls.', callPageSchema) },
});

const getRoute = describeRoute({
  ...shared,
  before: notOutbound,
  scope: 'calls:read',
  operationId: 'getCall',
  method: 'get',
  path: '/api/calls/{callId}',
  summary: 'Shows a call, with its transcript when there is one',
  request: { params: callPathSchema },
  responses: { 200: jsonResponse('The whole call.', callSchema) },
});

const changeRoute = describeRoute({
  tag: 'Calls',
  before: notOutbound,
  scope: 'calls:write',
  operationId: 'updateCall',
  method: 'patch',
  path: '/api/calls/{callId}',
  summary: 'Tags a call, or writes a note on it',
  description:
    'At any time, also while the call goes on. `tags` replaces all tags of the call; `GET /api/calls?tag=` finds them. What is erased of a call takes its note along.',
  request: { params: callPathSchema, body: jsonBody(callChangeSchema) },
  responses: { 200: jsonResponse('The whole call.', callSchema) },
});

const timelineRoute = describeRoute({
  ...shared,
  operationId: 'listCallEvents',
  method: 'get',
  path: '/api/calls/{callId}/events',
  summary: "Shows a call's timeline, with the latencies of every turn",
  request: { params: callPathSchema, query: timelineQuerySchema },
  responses: {
    200: jsonResponse('A page of the timeline, oldest first.', timelinePageSchema),
  },
});

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
