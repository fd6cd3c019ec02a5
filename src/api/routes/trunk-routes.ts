/** `/api/trunks`: lists, sets up, changes and removes the SIP trunks of the installation. */
import type { TrunkState } from '../../domain/dialing/trunk.ts';
import {
  changeTrunk,
  createTrunk,
  noTrunk,
  removeTrunk,
} from '../../domain/dialing/trunk-changes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf } from '../api-env.ts';
import { isOperator, NEEDS_OPERATOR_KEY, requireOperator } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { parsedJson } from '../http/request-body.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import {
  createTrunkSchema,
  patchTrunkSchema,
  trunkListSchema,
  trunkPathSchema,
  trunkSchema,
} from '../schemas/trunk-schemas.ts';
import { viewOf } from '../serializers/view-of.ts';

const shared = { tag: 'Trunks', scope: 'admin' } as const;

const whose =
  'A live key of the first account, and the dashboard, see every trunk; a live key of another account those whose `account` it is. A test key sees none: the sandbox has no trunks.';

const listRoute = describeRoute({
  ...shared,
  operationId: 'listTrunks',
  method: 'get',
  path: '/api/trunks',
  summary: 'Lists the SIP trunks and how each one is',
  description: `${whose} Never a password.`,
  responses: { 200: jsonResponse('The trunks that the key may see.', trunkListSchema) },
});

const getRoute = describeRoute({
  ...shared,
  operationId: 'getTrunk',
  method: 'get',
  path: '/api/trunks/{trunkName}',
  summary: 'Shows a SIP trunk and how it is',
  description: `${whose} 404 for a trunk that the key may not see.`,
  request: { params: trunkPathSchema },
  responses: { 200: jsonResponse('The trunk.', trunkSchema) },
});

const createRoute = describeRoute({
  ...shared,
  operationId: 'createTrunk',
  method: 'post',
  path: '/api/trunks',
  summary: 'Sets up a SIP trunk',
  description: `It takes effect at once, without a restart: it is registered where \`register\` says so, and its sources may call. The fields are those of the trunk file (sip-config/README.md). ${NEEDS_OPERATOR_KEY} 409 when the name is taken.`,
  request: { body: jsonBody(createTrunkSchema) },
  responses: { 201: jsonResponse('The trunk is set up.', trunkSchema) },
});

const patchRoute = describeRoute({
  ...shared,
  operationId: 'updateTrunk',
  method: 'patch',
  path: '/api/trunks/{trunkName}',
  summary: 'Changes the fields of a SIP trunk that the body has',
  description: `It takes effect at once; calls in progress go on as they are. ${NEEDS_OPERATOR_KEY} 409 for a trunk of the file.`,
  request: { params: trunkPathSchema, body: jsonBody(patchTrunkSchema) },
  responses: { 200: jsonResponse('The trunk was changed.', trunkSchema) },
  errors: [409, 422],
});

const deleteRoute = describeRoute({
  ...shared,
  operationId: 'deleteTrunk',
  method: 'delete',
  path: '/api/trunks/{trunkName}',
  summary: 'Removes a SIP trunk',
  description: `Its registration is taken back, and no more calls are taken or placed through it; calls in progress go on. ${NEEDS_OPERATOR_KEY} 409 for a trunk of the file.`,
  request: { params: trunkPathSchema },
  responses: { 204: { description: 'The trunk is removed.' } },
  errors: [409],
});

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

/** Before it takes effect. */
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

/** The user name is half of what the carrier asks for. */
function trunkView(trunk: TrunkState, isOperator: boolean) {
  const username = isOperator ? trunk.username : null;
  return viewOf(trunkSchema, { ...trunk, username, callsMax: trunk.maxCalls });
}
