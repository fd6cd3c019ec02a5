/** `/api/live/calls`: events of calls in progress over Server-Sent Events; with their schemas. */

import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Call, TranscriptEntry } from '../../domain/call/call.ts';
import type { CallLevels, LiveCallEvent } from '../../domain/call/live-sound.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { isKeyAlive } from '../http/access.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { type EventStream, eventOf, sendEvents } from '../http/event-stream.ts';
import {
  callItemSchema,
  timelinePageSchema,
  transcriptEntrySchema,
} from '../schemas/call-schemas.ts';
import {
  serializeCallCommon,
  serializeTimelineEntry,
  serializeTranscriptEntry,
} from '../serializers.ts';

const liveQuerySchema = z.strictObject({
  callId: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .openapi({ param: { description: 'Tells of this call only, with what was said so far.' } }),
  levels: z
    .enum(['true', 'false'])
    .optional()
    .openapi({
      param: { description: 'Whether to tell how loud calls are, four times a second.' },
    }),
});

const ofCall = { callId: z.string() };

const levelSchema = z.int().min(-90).max(0);

const liveCallSchema = callItemSchema
  .omit({ tags: true, hasTranscript: true, hasRecording: true })
  .extend({
    transcript: z
      .array(transcriptEntrySchema)
      .optional()
      .openapi({ description: 'There only in the snapshot of one call.' }),
  })
  .openapi('LiveCall');

const levelsSchema = z
  .array(z.object({ ...ofCall, caller: levelSchema, agent: levelSchema }))
  .openapi({ description: 'The loudest 20 ms of each side since the last time, in dBFS.' });

const hearingSchema = z.string().openapi({
  description: 'What the caller seems to be saying; the next one replaces it.',
});

const timelineEntrySchema = timelinePageSchema.shape.data.element;

/** Every event of the stream: its name, and its `data`. */
const liveEventSchema = z
  .union([
    eventOf(
      'snapshot',
      'LiveSnapshotEvent',
      z.object({ calls: z.array(liveCallSchema), queuedCalls: z.int() }),
    ),
    eventOf('call', 'LiveCallEvent', liveCallSchema),
    eventOf('said', 'LiveSaidEvent', z.object({ ...ofCall, entry: transcriptEntrySchema })),
    eventOf('timeline', 'LiveTimelineEvent', z.object({ ...ofCall, entry: timelineEntrySchema })),
    eventOf('hearing', 'LiveHearingEvent', z.object({ ...ofCall, text: hearingSchema })),
    eventOf('levels', 'LiveLevelsEvent', z.object({ levels: levelsSchema })),
  ])
  .openapi('LiveEvent', { description: 'An event of `GET /api/live/calls`.' });

type LiveEvent = z.infer<typeof liveEventSchema>;

/** Views that are open at a time, over all accounts: each holds a connection and a buffer. */
const VIEWS_MAX = 200;

/** Limit of one account within these, so that it cannot shut out the others. */
const OWN_VIEWS_MAX = 40;

/** Calls of each kind in a snapshot: half of the events that a view may queue for its client. */
const SNAPSHOT_CALLS_MAX = 500;

/** Events while a snapshot is read. A view that has more ends, and its client begins again. */
const EARLY_EVENTS_MAX = 1000;

type SnapshotEvent = Extract<LiveEvent, { readonly event: 'snapshot' }>;

const liveRoute = describeRoute('get', '/api/live/calls', {
  tag: 'Calls',
  scope: 'calls:read',
  operationId: 'watchCalls',
  summary: 'Streams the events of calls as they happen',
  description: [
    'Server-Sent Events (`text/event-stream`); the `data` of each is JSON: the schema `LiveEvent` has all. The first event is `snapshot`',
    '(`calls` that ring or are in progress, or the one of `callId`, over or not, with its `transcript` so far; `queuedCalls`). Then `call` (a call is there or has',
    'changed; at once where the one of `callId` is over), `said` (`callId`, `entry` of the transcript), `timeline` (`callId`, `entry`), and `hearing` (`callId`, `text`: what the caller seems to be',
    'saying; the next one replaces it, and `said`, or an empty text, ends it). With `levels=true` also `levels` every 250 ms while calls are in progress',
    '(for each, the loudest 20 ms of `caller` and `agent` since the last time, in whole dBFS from -90 to 0). A comment every 15 s keeps the connection alive. A client that',
    'reads too slowly is disconnected, and so is one whose key is revoked; a new connection begins with a new snapshot. Opening a view counts as one request.',
  ].join(' '),
  request: { query: liveQuerySchema },
  responses: {
    200: {
      description: 'The stream.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
  },
  errors: [404],
});

/** Adds `/api/live/calls`: calls in progress as Server-Sent Events. */
export function addLiveRoutes(api: ApiApp, deps: ApiDeps): void {
  const { calls, liveFeed } = deps;
  api.openAPIRegistry.register('LiveEvent', liveEventSchema);

  api.openapi(liveRoute, async (context) => {
    const { callId, levels } = context.req.valid('query');
    const scope = scopeOf(context);
    const watched =
      callId === undefined ? undefined : existing(await calls.find(scope, callId), 'call');
    if (liveFeed.size >= VIEWS_MAX || liveFeed.sizeOf(scope) >= OWN_VIEWS_MAX) {
      context.set('retryAfterSeconds', 10);
      throw new ServiceError(
        'SERVICE_UNAVAILABLE',
        `Cannot open a live view: ${OWN_VIEWS_MAX} of this account, or ${VIEWS_MAX} in all, are open already`,
      );
    }
    if (context.req.method === 'HEAD') {
      return context.body(null, 200, { 'Content-Type': 'text/event-stream' });
    }
    return openView(context, deps, { watched, hasLevels: levels === 'true' });
  });
}

async function openView(
  context: ApiContext,
  deps: ApiDeps,
  { watched, hasLevels }: { readonly watched: Call | undefined; readonly hasLevels: boolean },
): Promise<Response> {
  const { clock, liveSound } = deps;
  const scope = scopeOf(context);
  const { apiKey } = callerOf(context);
  const feed = new EarlyFeed();
  const stopWatching = deps.liveFeed.watch(scope, {
    onEvent: (live) => {
      if (watched === undefined || callIdOf(live) === watched.id) feed.take(liveEventOf(live));
    },
    onClosed: () => feed.close(),
  });
  // Before the response begins: an error of the store must become a 503.
  const snapshot = await snapshotFor(scope, deps, watched).catch((error: unknown) => {
    stopWatching();
    throw error;
  });
  if (watched !== undefined) feed.take(endOf(snapshot));
  let stops = [stopWatching];
  const options = {
    clock,
    mayGoOn: () => isKeyAlive(apiKey, deps),
    onEnded: () => {
      for (const stop of stops) stop();
    },
  };
  return sendEvents(context, options, (events) => {
    const sendLevels = (all: readonly CallLevels[]) => {
      const own = all.filter(({ callId }) => watched === undefined || callId === watched.id);
      const { event, data } = levelsEventOf(own);
      if (own.length > 0) events.send(event, data);
    };
    if (hasLevels) stops = [stopWatching, liveSound.watchLevels(scope, sendLevels)];
    feed.begin(snapshot, events);
  });
}

/** Events that come while the snapshot is read: sent after it, so that none is lost between the two. */
class EarlyFeed {
  #early: LiveEvent[] = [];
  #events: EventStream | undefined;
  #isClosed = false;

  take(live: LiveEvent | undefined): void {
    if (live === undefined) return;
    if (this.#events !== undefined) this.#events.send(live.event, live.data);
    else if (this.#early.length < EARLY_EVENTS_MAX) this.#early.push(live);
    else this.#isClosed = true;
  }

  close(): void {
    this.#isClosed = true;
    this.#events?.end();
  }

  /** Sends the snapshot and the events since it was requested; ends at once if the feed is closed. */
  begin(snapshot: SnapshotEvent, events: EventStream): void {
    events.send(snapshot.event, snapshot.data);
    for (const live of this.#early)
      if (!isInSnapshot(live, snapshot)) events.send(live.event, live.data);
    this.#early = [];
    this.#events = events;
    if (this.#isClosed) events.end();
  }
}

/** Final event of a call that is over; a client that waits for the end need not read the snapshot. */
function endOf({ data }: SnapshotEvent): LiveEvent | undefined {
  const [call] = data.calls;
  if (call === undefined || call.endedAt === null) return undefined;
  const { transcript, ...ended } = call;
  return { event: 'call', data: ended };
}

/** Whether the snapshot has the words already: they were said before it was read. */
function isInSnapshot(live: LiveEvent, { data }: SnapshotEvent): boolean {
  if (live.event !== 'said') return false;
  const { callId, entry } = live.data;
  const transcript = data.calls.find(({ id }) => id === callId)?.transcript ?? [];
  return transcript.some((known) => isDeepStrictEqual(known, entry));
}

async function snapshotFor(scope: Scope, deps: ApiDeps, watched: Call | undefined) {
  const queuedCalls = await queuedOf(scope, deps);
  if (watched === undefined) return snapshotOf(await liveCallsOf(scope, deps), queuedCalls);
  const call = existing(await deps.calls.find(scope, watched.id), 'call');
  return snapshotOf([call], queuedCalls, await deps.calls.transcript(call.id));
}

async function liveCallsOf(scope: Scope, { calls }: ApiDeps): Promise<readonly Call[]> {
  const page = { limit: SNAPSHOT_CALLS_MAX, offset: 0 };
  const inProgress = await calls.list(scope, { ...page, status: 'in_progress' });
  const ringing = await calls.list(scope, { ...page, status: 'ringing' });
  return [...inProgress.calls, ...ringing.calls];
}

async function queuedOf(scope: Scope, { calls }: ApiDeps): Promise<number> {
  return (await calls.list(scope, { status: 'queued', limit: 1, offset: 0 })).total;
}

/** How a view begins: the calls that go on. @param transcript of the one call that is watched alone. */
function snapshotOf(
  calls: readonly Call[],
  queuedCalls: number,
  transcript?: readonly TranscriptEntry[],
): SnapshotEvent {
  const views = calls.map((call) => ({
    ...serializeCallCommon(call),
    ...(transcript === undefined ? {} : { transcript: transcript.map(serializeTranscriptEntry) }),
  }));
  return { event: 'snapshot', data: { calls: views, queuedCalls } };
}

function liveEventOf(event: LiveCallEvent): LiveEvent {
  switch (event.kind) {
    case 'call':
      return { event: 'call', data: serializeCallCommon(event.call) };
    case 'said': {
      const { callId, entry } = event;
      return { event: 'said', data: { callId, entry: serializeTranscriptEntry(entry) } };
    }
    case 'timeline': {
      const { callId, entry } = event;
      return { event: 'timeline', data: { callId, entry: serializeTimelineEntry(entry) } };
    }
    case 'hearing': {
      const { callId, text } = event;
      return { event: 'hearing', data: { callId, text } };
    }
    default:
      return event satisfies never;
  }
}

/** How loud calls are. */
function levelsEventOf(levels: readonly CallLevels[]): LiveEvent {
  const views = levels.map(({ callId, callerDbfs, agentDbfs }) => ({
    ...{ callId, caller: callerDbfs, agent: agentDbfs },
  }));
  return { event: 'levels', data: { levels: views } };
}

/** Which call it is about. */
function callIdOf(event: LiveCallEvent): string {
  return event.kind === 'call' ? event.call.id : event.callId;
}
