/** `/api/trunks`: lists, sets up, changes, removes and checks the SIP trunks of the installation. */

import { z } from '@hono/zod-openapi';
import { accepts } from 'hono/accepts';
import {
  changeTrunk,
  createTrunk,
  noTrunk,
  removeTrunk,
  type TrunkCheckProgress,
  type TrunkCheckWatch,
  type TrunkState,
} from '../../domain/dialing/trunk.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf } from '../api-env.ts';
import { isKeyAlive, isOperator, NEEDS_OPERATOR_KEY, requireOperator } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { errorSchema, jsonBody, jsonResponse, routesOf } from '../http/describe-route.ts';
import { errorBody, serviceErrorOf } from '../http/errors.ts';
import { type EventStream, sendEvents } from '../http/event-stream.ts';
import { parsedJson } from '../http/request-body.ts';
import {
  createTrunkSchema,
  patchTrunkSchema,
  type TrunkCheckEvent,
  trunkCheckEventSchema,
  trunkCheckSchema,
  trunkListSchema,
  trunkPathSchema,
  trunkSchema,
} from '../schemas/trunk-schemas.ts';
import { viewOf } from '../serializers.ts';

const adminRoute = routesOf({ tag: 'Trunks', scope: 'admin' });

const whose =
  'A live key of the first account, and the dashboard, see every trunk; a live key of another account those whose `account` it is. A test key sees none: the sandbox has no trunks.';

const listRoute = adminRoute('get', '/api/trunks', {
  operationId: 'listTrunks',
  summary: 'Lists the SIP trunks and how each one is',
  description: `${whose} Never a password.`,
  responses: { 200: jsonResponse('The trunks that the key may see.', trunkListSchema) },
});

const getRoute = adminRoute('get', '/api/trunks/{trunkName}', {
  operationId: 'getTrunk',
  summary: 'Shows a SIP trunk and how it is',
  description: `${whose} 404 for a trunk that the key may not see.`,
  request: { params: trunkPathSchema },
  responses: { 200: jsonResponse('The trunk.', trunkSchema) },
});

const createRoute = adminRoute('post', '/api/trunks', {
  operationId: 'createTrunk',
  summary: 'Sets up a SIP trunk',
  description: `It takes effect at once, without a restart: it is registered where \`register\` says so, and its sources may call. The fields are those of the trunk file (sip-config/README.md). ${NEEDS_OPERATOR_KEY} 409 when the name is taken.`,
  request: { body: jsonBody(createTrunkSchema) },
  responses: { 201: jsonResponse('The trunk is set up.', trunkSchema) },
});

const patchRoute = adminRoute('patch', '/api/trunks/{trunkName}', {
  operationId: 'updateTrunk',
  summary: 'Changes the fields of a SIP trunk that the body has',
  description: `It takes effect at once; calls in progress go on as they are. ${NEEDS_OPERATOR_KEY} 409 for a trunk of the file.`,
  request: { params: trunkPathSchema, body: jsonBody(patchTrunkSchema) },
  responses: { 200: jsonResponse('The trunk was changed.', trunkSchema) },
  errors: [409, 422],
});

const deleteRoute = adminRoute('delete', '/api/trunks/{trunkName}', {
  operationId: 'deleteTrunk',
  summary: 'Removes a SIP trunk',
  description: `Its registration is taken back, and no more calls are taken or placed through it; calls in progress go on. ${NEEDS_OPERATOR_KEY} 409 for a trunk of the file.`,
  request: { params: trunkPathSchema },
  responses: { 204: { description: 'The trunk is removed.' } },
  errors: [409],
});

/** Adds `/api/trunks`: SIP trunks set up over REST; trunks of the trunks file are read-only. */
export function addTrunkRoutes(api: ApiApp, deps: ApiDeps): void {
  addReads(api, deps);
  addWrites(api, deps);
}

function addReads(api: ApiApp, deps: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    return context.json({ data: await trunksSeenBy(context, deps) }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { trunkName } = context.req.valid('param');
    const seen = await trunksSeenBy(context, deps);
    const found = seen.find(({ name }) => name === trunkName);
    // The same for a trunk of another account, so that names cannot be probed.
    if (found === undefined) throw noTrunk(trunkName);
    return context.json(found, 200);
  });
}

/** The trunks that a key may see; see `whose`. */
async function trunksSeenBy(context: ApiContext, deps: ApiDeps) {
  const { apiKey, isDashboard } = callerOf(context);
  const isOfOperator = await isOperator(context, deps);
  const isLive = apiKey.environment === 'live';
  return deps.trunks
    .list()
    .filter(({ account }) => {
      return isOfOperator || isDashboard || (isLive && account === apiKey.accountId);
    })
    .map((trunk) => trunkView(trunk, isOfOperator));
}

function addWrites(api: ApiApp, deps: ApiDeps): void {
  const changing = ({ storedTrunks: stored, accounts }: Stores) => {
    const { trunks, trunkControl: control, clock } = deps;
    return { trunks, control, stored, accounts, now: clock.now() };
  };

  api.openapi(createRoute, async (context) => {
    await requireOperator(context, deps);
    const fields = fieldsOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const saved = await commit(async (stores) => {
          const settings = await createTrunk(fields, changing(stores));
          return { status: 201, body: trunkView({ ...settings, ...SAVED }, true) };
        });
        await deps.trunkControl.reload();
        const inEffect = deps.trunks.list().find(({ name }) => name === saved.body.name);
        // Another request may have removed it already.
        return inEffect === undefined ? saved : { ...saved, body: trunkView(inEffect, true) };
      },
    });
  });

  api.openapi(patchRoute, async (context) => {
    await requireOperator(context, deps);
    const { trunkName: name } = context.req.valid('param');
    const changes = changesOf(fieldsOf(context));
    await deps.transaction((stores) => changeTrunk(name, changes, changing(stores)));
    await deps.trunkControl.reload();
    return context.json(trunkView(trunkOf(deps, name), true), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    await requireOperator(context, deps);
    const { trunkName: name } = context.req.valid('param');
    await deps.transaction((stores) => removeTrunk(name, changing(stores)));
    await deps.trunkControl.reload();
    return context.body(null, 204);
  });
}

/** State of a saved trunk before it takes effect. */
const SAVED = {
  state: 'unregistered',
  detail: 'saved, and not in effect yet',
  addressInUse: { address: null, source: 'local' },
  expiresAt: null,
  callsInProgress: 0,
} as const;

/** The body as it came: the schema, which leaves the check of fields to the validator of trunks, drops `__proto__`. */
function fieldsOf(context: ApiContext): Readonly<Record<string, unknown>> {
  return parsedJson(context.get('bodyText')) as Readonly<Record<string, unknown>>;
}

/** @throws {ServiceError} VALIDATION_ERROR when nothing is to change. */
function changesOf(changes: Readonly<Record<string, unknown>>) {
  if (Object.keys(changes).length > 0) return changes;
  const message = 'expected one field at least';
  throw new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, [
    { path: '', message },
  ]);
}

function trunkOf({ trunks }: Pick<ApiDeps, 'trunks'>, name: string): TrunkState {
  const found = trunks.list().find((trunk) => trunk.name === name);
  if (found === undefined) throw noTrunk(name);
  return found;
}

/** Only the operator sees the user name: it is half of the trunk's credentials. */
function trunkView(trunk: TrunkState, isOperator: boolean) {
  const username = isOperator ? trunk.username : null;
  return viewOf(trunkSchema, { ...trunk, username, callsMax: trunk.maxCalls });
}

/** A check takes seconds, 25 at most. */
const CHECK_RETRY_SECONDS = 10;

const checkRoute = adminRoute('post', '/api/trunks/{trunkName}/check', {
  operationId: 'checkTrunk',
  summary: 'Checks a SIP trunk step by step',
  description: [
    'Resolves the proxy, connects, sends OPTIONS, and REGISTER where the trunk registers, without changing the registration. Each step says what is wrong and what to do.',
    'Takes up to 25 s where the carrier is silent. 503 with Retry-After while too many checks are in progress. With `Accept: text/event-stream` the answer is a stream of',
    'Server-Sent Events, the `data` of each JSON (schema `TrunkCheckEvent`): `progress` at each change, with all steps in their order; in the end `check`, the result, or `failed`,',
    `an error. Closing the connection stops the check. A stream is not kept for the idempotency key: a second request checks again. ${NEEDS_OPERATOR_KEY}`,
  ].join(' '),
  request: { params: trunkPathSchema },
  responses: {
    200: {
      description: 'What was found.',
      content: {
        'application/json': { schema: trunkCheckSchema },
        'text/event-stream': { schema: z.string() },
      },
    },
  },
});

/** Adds `/api/trunks/{trunkName}/check`: the trunk doctor, step by step or as one answer. */
export function addTrunkCheckRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openAPIRegistry.register('TrunkCheckEvent', trunkCheckEventSchema);

  api.openapi(checkRoute, async (context) => {
    await requireOperator(context, deps);
    const { trunkName: name } = context.req.valid('param');
    context.set('retryAfterSeconds', CHECK_RETRY_SECONDS);
    if (wantsEvents(context)) return streamCheck(context, deps, name);
    return answerOnce(context, deps, {
      work: async () => ({ status: 200, body: await checked(deps, name) }),
    });
  });
}

/** JSON unless the client prefers the stream. */
function wantsEvents(context: ApiContext): boolean {
  const [json, events] = ['application/json', 'text/event-stream'];
  return accepts(context, { header: 'Accept', supports: [json, events], default: json }) === events;
}

/** @throws {ServiceError} NOT_FOUND without a trunk of that name; SERVICE_UNAVAILABLE while too many checks are in progress. */
async function checked({ trunkControl }: ApiDeps, name: string, watch?: TrunkCheckWatch) {
  const check = await trunkControl.check(name, watch);
  if (check === undefined) throw noTrunk(name);
  return trunkCheckSchema.parse(check);
}

async function streamCheck(context: ApiContext, deps: ApiDeps, name: string): Promise<Response> {
  const { apiKey } = callerOf(context);
  const stopped = new AbortController();
  const { signal } = stopped;
  const begun = Promise.withResolvers<void>();
  const feed = new CheckFeed();
  const onProgress = (steps: readonly TrunkCheckProgress[]) => {
    feed.progress(steps);
    begun.resolve();
  };
  const checking = checked(deps, name, { onProgress, signal });
  // Before the response begins: a check that is refused must have the status of its error.
  await Promise.race([begun.promise, checking]);
  const options = {
    clock: deps.clock,
    mayGoOn: () => isKeyAlive(apiKey, deps),
    onEnded: () => stopped.abort(),
  };
  return sendEvents(context, options, (events) => {
    feed.begin(events);
    void checking.then(
      (check) => feed.end({ event: 'check', data: check }),
      (error: unknown) => {
        // It was stopped because the stream had ended: there is no client to tell.
        if (signal.aborted) return;
        const requestId = context.get('requestId');
        deps.log.error({ err: error, requestId }, 'http: check of a trunk failed');
        const told = errorSchema.parse(errorBody(serviceErrorOf(error), requestId));
        feed.end({ event: 'failed', data: told });
      },
    );
  });
}

/** Sends the newest progress when the stream begins, then each change. */
class CheckFeed {
  #newest: readonly TrunkCheckProgress[] | undefined;
  #events: EventStream | undefined;

  progress(steps: readonly TrunkCheckProgress[]): void {
    this.#newest = steps;
    this.#send({ event: 'progress', data: { steps: [...steps] } });
  }

  begin(events: EventStream): void {
    this.#events = events;
    if (this.#newest !== undefined) this.progress(this.#newest);
  }

  end(last: TrunkCheckEvent): void {
    this.#send(last);
    this.#events?.end();
  }

  #send({ event, data }: TrunkCheckEvent): void {
    this.#events?.send(event, data);
  }
}
